/* SPDX-License-Identifier: Apache-2.0
 *
 * The program of docs/bind.md: every rank sends its number to both neighbours, in one task that completes when all four messages
 * have completed. The task that depends on it starts after the last message, not after the first. */
/* [program] */
#include <commtask/omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, n_ranks, level, edge, ghost[2] = {-1, -1};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (commtask_init(NULL) != COMMTASK_OK) return 1;
    const int neighbour[2] = {(rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks};
    edge = rank;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(in : edge) depend(out : ghost)
        for (int side = 0; side < 2; ++side) {
            commtask_omp_bind(commtask_op_recv(&ghost[side], 1, MPI_INT, neighbour[side], 1 - side, MPI_COMM_WORLD));
            commtask_omp_bind(commtask_op_send(&edge, 1, MPI_INT, neighbour[side], side, MPI_COMM_WORLD));
        }
#pragma omp task depend(in : ghost)
        printf("rank %d is between %d and %d\n", rank, ghost[0], ghost[1]);
    }

    const int is_wrong = ghost[0] != neighbour[0] || ghost[1] != neighbour[1] || commtask_omp_error_count() > 0;
    commtask_finalize();
    MPI_Finalize();
    return is_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
/* [program] */
