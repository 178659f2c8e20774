// SPDX-License-Identifier: Apache-2.0
// A C program for TAMPI that uses only the installed package commtask-tampi: one task receives and sends around the ring, and
// another one depends on it. It knows nothing of commtask.
#include <TAMPI.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;

    int received = -1;
    int seen = -1;
    if (provided == MPI_TASK_MULTIPLE) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task depend(in : rank) depend(out : received) shared(rank, received)
            {
                TAMPI_Irecv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                TAMPI_Isend(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
            }
#pragma omp task depend(in : received) shared(received, seen)
            seen = received;
        }
    }
    if (seen != left) fprintf(stderr, "rank %d saw %d, with level %d\n", rank, seen, provided);
    MPI_Finalize();
    return seen != left;
}
