// SPDX-License-Identifier: Apache-2.0
// A C program that uses only the installed OpenMP face: a receive and a send around the ring are tasks, and a third
// task depends on the receive. Wrong data or a missing edge makes it fail; it runs with whichever compiler built it.
#include <commtask/omp.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (commtask_init(NULL) != COMMTASK_OK || commtask_omp_check() != COMMTASK_OK) {
        fprintf(stderr, "%s%s\n", commtask_last_error(), commtask_omp_last_error());
        return 1;
    }
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;

    int received = -1;
    int seen = -1;
    const commtask_op recv = commtask_op_recv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD);
    const commtask_op send = commtask_op_send(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    const void* const writes[1] = {&received};
    const void* const reads[1] = {&rank};
    int refused = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
        refused |= commtask_omp_spawn(&recv, NULL, 0, NULL, 1, writes, 0, NULL) != COMMTASK_OK;
        refused |= commtask_omp_spawn(&send, NULL, 1, reads, 0, NULL, 0, NULL) != COMMTASK_OK;
#pragma omp task depend(in : received) shared(received, seen)
        seen = received;
    }
    const int wrong = refused || seen != left || commtask_omp_error_count() != 0;
    if (wrong) fprintf(stderr, "rank %d saw %d: %s\n", rank, seen, commtask_omp_last_error());

    const int unfinished = commtask_finalize() != COMMTASK_OK;
    MPI_Finalize();
    return wrong || unfinished;
}
