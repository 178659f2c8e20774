/* SPDX-License-Identifier: Apache-2.0
 *
 * The method of Gauss and Seidel, in place: a wave of blocks, so that ranks work on different sweeps at once. Requests are the
 * program's own, from MPI's nonblocking functions, handed over with TAMPI_Iwait and TAMPI_Iwaitall. */
#include "program.h"

enum { n_columns = 48, rows_of_rank = 8, block = 12, n_blocks = n_columns / block, n_sweeps = 20 };

typedef double row[n_columns + 2];

static void fill(row* grid, int first_row, int n_rows) {
    for (int y = 0; y < n_rows; ++y) {
        for (int x = 0; x < n_columns + 2; ++x) grid[y][x] = ((first_row + y) * 31 + x * 17) % 11;
    }
}

static void sweep(row* grid, int n_rows, int b) {
    for (int y = 1; y <= n_rows; ++y) {
        for (int x = 1 + b * block; x <= (b + 1) * block; ++x) {
            grid[y][x] = 0.25 * (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] + grid[y][x + 1]);
        }
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    static row grid[rows_of_rank + 2];
    fill(grid, rank * rows_of_rank, rows_of_rank + 2);
    static char upper[n_blocks + 2], inner[n_blocks + 2], lower[n_blocks + 2];
    static MPI_Status from_above[n_sweeps][n_blocks], from_below[n_sweeps][n_blocks][2];
    int n_wrong = 0;

#pragma omp parallel
#pragma omp single
    for (int s = 0; s < n_sweeps; ++s) {
        for (int b = 0; b < n_blocks; ++b) {
            const int x = 1 + b * block;
            /* Below is the former sweep's row, above is this one's. */
            if (rank > 0) {
#pragma omp task depend(in : inner[b + 1]) firstprivate(x, b)
                {
                    MPI_Request request;
                    MPI_Isend(grid[1] + x, block, MPI_DOUBLE, rank - 1, b, MPI_COMM_WORLD, &request);
                    TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
                }
#pragma omp task depend(out : upper[b + 1]) firstprivate(s, x, b)
                {
                    MPI_Request request;
                    MPI_Irecv(grid[0] + x, block, MPI_DOUBLE, rank - 1, n_blocks + b, MPI_COMM_WORLD, &request);
                    TAMPI_Iwait(&request, &from_above[s][b]);
                }
            }
            if (rank + 1 < n_ranks) {
#pragma omp task depend(out : lower[b + 1]) firstprivate(s, x, b)
                {
                    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
                    MPI_Irecv(grid[rows_of_rank + 1] + x, block, MPI_DOUBLE, rank + 1, b, MPI_COMM_WORLD, &requests[1]);
                    TAMPI_Iwaitall(2, requests, from_below[s][b]);
                }
            }
#pragma omp task depend(in : upper[b + 1], lower[b + 1], inner[b], inner[b + 2]) depend(inout : inner[b + 1])          \
    firstprivate(b)
            sweep(grid, rows_of_rank, b);
            if (rank + 1 < n_ranks) {
#pragma omp task depend(in : inner[b + 1]) firstprivate(x, b)
                {
                    MPI_Request request;
                    MPI_Isend(grid[rows_of_rank] + x, block, MPI_DOUBLE, rank + 1, n_blocks + b, MPI_COMM_WORLD,
                              &request);
                    TAMPI_Iwaitall(1, &request, MPI_STATUSES_IGNORE);
                }
            }
        }
    }

    for (int s = 0; s < n_sweeps && rank > 0; ++s) {
        for (int b = 0; b < n_blocks; ++b) {
            int count = 0;
            MPI_Get_count(&from_above[s][b], MPI_DOUBLE, &count);
            n_wrong += from_above[s][b].MPI_SOURCE != rank - 1 || count != block;
        }
    }
    const int n_rows = n_ranks * rows_of_rank;
    row* whole = (row*)malloc((size_t)(n_rows + 2) * sizeof(row));
    fill(whole, 0, n_rows + 2);
    for (int s = 0; s < n_sweeps; ++s) {
        for (int b = 0; b < n_blocks; ++b) sweep(whole, n_rows, b);
    }
    double difference = n_wrong;
    for (int y = 1; y <= rows_of_rank; ++y) {
        for (int x = 1; x <= n_columns; ++x) {
            difference = fmax(difference, fabs(grid[y][x] - whole[rank * rows_of_rank + y][x]));
        }
    }
    free(whole);
    return end("gauss_seidel", difference, 0);
}
