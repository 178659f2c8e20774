/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenMP example of docs/one-sided.md: a halo that is put into the neighbour's window, whose notification releases the task that reads it.
 * One rank or more in a ring; it sees that the halo is the left neighbour's. */
#include <commtask/omp.h>

#include <stdio.h>

enum { n = 64, place = n, tag = 7 };

static int left, n_wrong;

static void relax_ring(const double* comes) {
    for (int i = 0; i < n; ++i) n_wrong += comes[i] != left;
}

int main(int argc, char** argv) {
    int level, rank, n_ranks;
    double* base;
    MPI_Win window;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    if (commtask_init(NULL) != COMMTASK_OK) return 1;
    MPI_Win_allocate(2 * n * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    n_wrong += commtask_win_register(window, MPI_COMM_WORLD) != COMMTASK_OK;
    double* const leaves = base;
    double* const comes = base + place;
    for (int i = 0; i < n; ++i) leaves[i] = rank;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        /* [omp] */
        COMM_TASK(put_notify(leaves, n, MPI_DOUBLE, right, place, n, MPI_DOUBLE, tag, window), in(leaves));
        COMM_TASK(await_notify(tag, 1, left, window), out(comes));
#pragma omp task depend(in : *comes)
        relax_ring(comes);
        /* [omp] */
    }
    n_wrong += commtask_omp_error_count() > 0;
    n_wrong += commtask_win_unregister(window) != COMMTASK_OK;
    if (n_wrong > 0) fprintf(stderr, "rank %d: %d wrong values or calls\n", rank, n_wrong);
    MPI_Win_free(&window);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
