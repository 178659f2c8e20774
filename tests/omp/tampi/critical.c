/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocking calls in critical sections and under locks: the thread must not run another task on top of the waiting one, since that
 * may want the same mutex. Then it would wait for itself. */
#include <TAMPI.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { n_tasks = 30 };

int main(int argc, char** argv) {
    int level, rank, n_ranks, n_wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (level != MPI_TASK_MULTIPLE) n_wrong = 1;
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
    int came[2][n_tasks], value[n_tasks];
    MPI_Request sent[2 * n_tasks];
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int i = 0; i < n_tasks; ++i) {
        value[i] = 10 * rank + i;
        for (int which = 0; which < 2; ++which)
            MPI_Isend(&value[i], 1, MPI_INT, right, 2 * i + which, MPI_COMM_WORLD, &sent[2 * i + which]);
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n_tasks; ++i) {
#pragma omp task firstprivate(i) shared(came)
#pragma omp critical
        MPI_Recv(&came[0][i], 1, MPI_INT, left, 2 * i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task firstprivate(i) shared(came)
        {
            omp_set_lock(&lock);
            MPI_Recv(&came[1][i], 1, MPI_INT, left, 2 * i + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            omp_unset_lock(&lock);
        }
    }
    MPI_Waitall(2 * n_tasks, sent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n_tasks; ++i) n_wrong += came[0][i] != 10 * left + i || came[1][i] != 10 * left + i;
    omp_destroy_lock(&lock);
    if (n_wrong > 0) printf("rank %d: %d wrong\n", rank, n_wrong);
    MPI_Finalize();
    return n_wrong > 0;
}
