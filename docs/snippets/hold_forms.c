/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo of docs/hold.md in the two ways that need no held task: hold_halo.c in MPI alone, before commtask is started, and with
 * a communication task for each message. The parts between the marks are shown on that page. */
#include <commtask/omp.h>
#include <stdio.h>
#include <stdlib.h>

static void in_mpi(int rank, int edge, int ghost[2], const int neighbour[2]) {
    /* [mpi] */
    MPI_Request request[4];
    for (int side = 0; side < 2; ++side) {
        MPI_Irecv(&ghost[side], 1, MPI_INT, neighbour[side], 1 - side, MPI_COMM_WORLD, &request[2 * side]);
        MPI_Isend(&edge, 1, MPI_INT, neighbour[side], side, MPI_COMM_WORLD, &request[2 * side + 1]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    printf("rank %d is between %d and %d\n", rank, ghost[0], ghost[1]);
    /* [mpi] */
}

static void in_tasks(int rank, int edge, int ghost[2], const int neighbour[2]) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        /* [comm_task] */
        for (int side = 0; side < 2; ++side) {
            COMM_TASK(recv(&ghost[side], 1, MPI_INT, neighbour[side], 1 - side, MPI_COMM_WORLD), out(&ghost[side]));
            COMM_TASK(send(&edge, 1, MPI_INT, neighbour[side], side, MPI_COMM_WORLD), in(&edge));
        }
#pragma omp task depend(in : ghost[0], ghost[1])
        printf("rank %d is between %d and %d\n", rank, ghost[0], ghost[1]);
        /* [comm_task] */
    }
}

int main(int argc, char** argv) {
    int rank, n_ranks, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int neighbour[2] = {(rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks};
    int ghost[2][2] = {{-1, -1}, {-1, -1}};
    in_mpi(rank, rank, ghost[0], neighbour);
    if (commtask_init(NULL) != COMMTASK_OK) return 1;
    in_tasks(rank, rank, ghost[1], neighbour);

    int is_wrong = commtask_omp_error_count() > 0;
    for (int i = 0; i < 4; ++i) is_wrong |= ghost[i / 2][i % 2] != neighbour[i % 2];
    commtask_finalize();
    MPI_Finalize();
    return is_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
