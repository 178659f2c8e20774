/* SPDX-License-Identifier: Apache-2.0
 *
 * Heat on a plate, by Jacobi's method: rows are dealt out to ranks and columns to blocks. Each block of a halo row is a message in
 * a task of its own, so that a block goes on when its own neighbours have come; nobody waits between the steps. */
#include "program.h"

enum { n_columns = 64, rows_of_rank = 12, block = 16, n_blocks = n_columns / block, n_steps = 40 };

typedef double row[n_columns + 2];

static double first(int y, int x) { return sin(0.3 * y) + cos(0.2 * x * (y % 5)); }

static void relax(row* to, row* from, int y, int b) {
    for (int x = 1 + b * block; x <= (b + 1) * block; ++x) {
        to[y][x] = 0.25 * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
    }
}

static void fill(row* plate, int first_row, int n_rows) {
    for (int y = 0; y < n_rows; ++y) {
        for (int x = 0; x < n_columns + 2; ++x) plate[y][x] = first(first_row + y, x);
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    static row plate[2][rows_of_rank + 2];
    for (int i = 0; i < 2; ++i) fill(plate[i], rank * rows_of_rank, rows_of_rank + 2);
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank + 1 < n_ranks ? rank + 1 : MPI_PROC_NULL;
    /* What stands for a block of columns of a row group in depend clauses: with a border of one on each side. */
    static char top[2][n_blocks + 2], inner[2][n_blocks + 2], bottom[2][n_blocks + 2];

#pragma omp parallel
#pragma omp single
    for (int step = 0; step < n_steps; ++step) {
        const int now = step % 2, next = 1 - now;
        for (int b = 0; b < n_blocks; ++b) {
            const int x = 1 + b * block;
            /* Of two steps and two rows: messages of one step may overtake those of the step before. */
            const int tag = 4 * b + 2 * now;
            if (step > 0) {
#pragma omp task depend(in : inner[now][b + 1]) firstprivate(now, x, tag)
                {
                    TAMPI_Isend(&plate[now][1][x], block, MPI_DOUBLE, above, tag, MPI_COMM_WORLD);
                    TAMPI_Isend(&plate[now][rows_of_rank][x], block, MPI_DOUBLE, below, tag + 1, MPI_COMM_WORLD);
                }
#pragma omp task depend(out : top[now][b + 1]) firstprivate(now, x, tag)
                TAMPI_Irecv(&plate[now][0][x], block, MPI_DOUBLE, above, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(out : bottom[now][b + 1]) firstprivate(now, x, tag)
                TAMPI_Irecv(&plate[now][rows_of_rank + 1][x], block, MPI_DOUBLE, below, tag, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
            }
        }
        for (int b = 0; b < n_blocks; ++b) {
#pragma omp task depend(in : top[now][b + 1], bottom[now][b + 1], inner[now][b], inner[now][b + 1], inner[now][b + 2]) \
    depend(out : inner[next][b + 1]) firstprivate(now, next, b)
            for (int y = 1; y <= rows_of_rank; ++y) relax(plate[next], plate[now], y, b);
        }
    }

    const int n_rows = n_ranks * rows_of_rank + 2;
    row* whole[2];
    for (int i = 0; i < 2; ++i) {
        whole[i] = (row*)malloc((size_t)n_rows * sizeof(row));
        fill(whole[i], 0, n_rows);
    }
    for (int step = 0; step < n_steps; ++step) {
        for (int y = 1; y < n_rows - 1; ++y) {
            for (int b = 0; b < n_blocks; ++b) relax(whole[1 - step % 2], whole[step % 2], y, b);
        }
    }
    double difference = 0;
    for (int y = 1; y <= rows_of_rank; ++y) {
        for (int x = 1; x <= n_columns; ++x) {
            const double here = plate[n_steps % 2][y][x] - whole[n_steps % 2][rank * rows_of_rank + y][x];
            if (!(fabs(here) <= difference)) difference = fabs(here);
        }
    }
    free(whole[0]);
    free(whole[1]);
    return end("heat", difference, 0);
}
