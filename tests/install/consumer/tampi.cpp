// SPDX-License-Identifier: Apache-2.0
// A C++ program for TAMPI that uses only the installed package commtask-tampi: requests of its own hold one task, and another one
// depends on it. It knows nothing of commtask.
#include <TAMPI.h>
#include <cstdio>

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int is_enabled = 0;
    TAMPI_Nonblocking_enabled(&is_enabled);
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;

    int received = -1;
    int seen = -1;
    if (is_enabled != 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task depend(in : rank) depend(out : received) shared(rank, received)
            {
                MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
                MPI_Irecv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[0]);
                MPI_Isend(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[1]);
                TAMPI_Iwaitall(2, requests, MPI_STATUSES_IGNORE);
            }
#pragma omp task depend(in : received) shared(received, seen)
            seen = received;
        }
    }
    if (seen != left) std::fprintf(stderr, "rank %d saw %d, with level %d\n", rank, seen, provided);
    MPI_Finalize();
    return seen != left ? 1 : 0;
}
