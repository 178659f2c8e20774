/* SPDX-License-Identifier: Apache-2.0
 *
 * Relaxation on a periodic 2-D grid that is cut among the ranks in both directions, in C with OpenMP tasks. Every step
 * exchanges four halos as communication tasks; the inner cells are computed meanwhile, the rim when its halos are there.
 * No thread waits between the steps: dependences order all of them. A wave whose decay is known checks every cell. */
#include <commtask/omp.h>
#include <math.h>
#include <stdio.h>

enum { n = 64, row = n + 2, n_steps = 100 };           /* cells of a rank in each direction; with a ghost at each end */
enum { SOUTHWARDS, NORTHWARDS, EASTWARDS, WESTWARDS }; /* where a message goes */
enum { NORTH, SOUTH, WEST, EAST };

static double u[2][row * row]; /* for this step and for the next, in turns */
static int neighbor[4];
static MPI_Comm grid;
static MPI_Datatype column;

static double* at(double* cells, int i, int j) { return &cells[i * row + j]; }

static void relax(double* to, double* from, int first_i, int last_i, int first_j, int last_j) {
    for (int i = first_i; i <= last_i; ++i)
        for (int j = first_j; j <= last_j; ++j)
            *at(to, i, j) =
                0.25 * (*at(from, i - 1, j) + *at(from, i + 1, j) + *at(from, i, j - 1) + *at(from, i, j + 1));
}

/* Creates the tasks of one step. Inner cells and rim are known to OpenMP by one cell each, a halo by its first. */
static void create_step(int step) {
    double *from = u[step % 2], *to = u[(step + 1) % 2];
    const int tag = 4 * step; /* one for each step, to tell steps apart in a trace; a tag for each side is enough */
    double *north = at(from, 0, 1), *south = at(from, n + 1, 1), *west = at(from, 1, 0), *east = at(from, 1, n + 1);
    double *rim = at(from, 1, 1), *inner = at(from, 2, 2), *next_rim = at(to, 1, 1), *next_inner = at(to, 2, 2);
    COMM_TASK(recv(north, n, MPI_DOUBLE, neighbor[NORTH], tag + SOUTHWARDS, grid), out(north));
    COMM_TASK(recv(south, n, MPI_DOUBLE, neighbor[SOUTH], tag + NORTHWARDS, grid), out(south));
    COMM_TASK(recv(west, 1, column, neighbor[WEST], tag + EASTWARDS, grid), out(west));
    COMM_TASK(recv(east, 1, column, neighbor[EAST], tag + WESTWARDS, grid), out(east));
    COMM_TASK(send(at(from, n, 1), n, MPI_DOUBLE, neighbor[SOUTH], tag + SOUTHWARDS, grid), in(rim));
    COMM_TASK(send(at(from, 1, 1), n, MPI_DOUBLE, neighbor[NORTH], tag + NORTHWARDS, grid), in(rim));
    COMM_TASK(send(at(from, 1, n), 1, column, neighbor[EAST], tag + EASTWARDS, grid), in(rim));
    COMM_TASK(send(at(from, 1, 1), 1, column, neighbor[WEST], tag + WESTWARDS, grid), in(rim));
#pragma omp task depend(in : *inner, *rim) depend(out : *next_inner)
    relax(to, from, 2, n - 1, 2, n - 1);
#pragma omp task depend(in : *inner, *rim, *north, *south, *west, *east) depend(out : *next_rim)
    {
        relax(to, from, 1, 1, 1, n);
        relax(to, from, n, n, 1, n);
        relax(to, from, 2, n - 1, 1, 1);
        relax(to, from, 2, n - 1, n, n);
    }
}

int main(int argc, char** argv) {
    int level, size, rank, dims[2] = {0, 0}, here[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK || commtask_omp_check() != COMMTASK_OK) {
        fprintf(stderr, "%s%s\n", commtask_last_error(), commtask_omp_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){1, 1}, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, here);
    MPI_Cart_shift(grid, 0, 1, &neighbor[NORTH], &neighbor[SOUTH]);
    MPI_Cart_shift(grid, 1, 1, &neighbor[WEST], &neighbor[EAST]);
    MPI_Type_vector(n, 1, row, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    /* sin(ax + by) is multiplied by (cos a + cos b) / 2 in every step. */
    const double pi = acos(-1), a = 2 * pi / (n * dims[0]), b = 2 * pi / (n * dims[1]);
    const double decay = pow((cos(a) + cos(b)) / 2, n_steps);
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) *at(u[0], i, j) = sin(a * (here[0] * n + i) + b * (here[1] * n + j));

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int step = 0; step < n_steps; ++step) create_step(step);

    double worst = 0;
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j)
            worst = fmax(worst,
                         fabs(*at(u[n_steps % 2], i, j) - decay * sin(a * (here[0] * n + i) + b * (here[1] * n + j))));
    const int n_errors = (int)commtask_omp_error_count();
    const int is_right = commtask_finalize() == COMMTASK_OK && n_errors == 0;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, grid);
    if (rank == 0) printf("%d x %d ranks, worst error %.1e\n", dims[0], dims[1], worst);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return !(is_right && worst < 1e-12);
}
