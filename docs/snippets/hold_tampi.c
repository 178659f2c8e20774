/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo of docs/hold.md as it is written for TAMPI: hold_halo.c with other names, compiled with commtask's TAMPI.h. The part
 * between the marks is shown on that page. */
#include <TAMPI.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, n_ranks, level, edge, ghost[2] = {-1, -1};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int neighbour[2] = {(rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks};
    edge = rank;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        /* [tampi] */
#pragma omp task depend(in : edge) depend(out : ghost)
        for (int side = 0; side < 2; ++side) {
            TAMPI_Irecv(&ghost[side], 1, MPI_INT, neighbour[side], 1 - side, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            TAMPI_Isend(&edge, 1, MPI_INT, neighbour[side], side, MPI_COMM_WORLD);
        }
#pragma omp task depend(in : ghost)
        printf("rank %d is between %d and %d\n", rank, ghost[0], ghost[1]);
        /* [tampi] */
    }

    const int is_wrong = ghost[0] != neighbour[0] || ghost[1] != neighbour[1];
    MPI_Finalize();
    return is_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
