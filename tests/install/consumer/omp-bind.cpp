// SPDX-License-Identifier: Apache-2.0
// A C++ program that uses only the installed package commtask-omp-bind: a lambda in a task receives and sends around the ring,
// and another task depends on it. Where the task is not held, the data is not there yet.
#include <commtask/omp.h>
#include <cstdio>

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (commtask_init(nullptr) != COMMTASK_OK || commtask_omp_bind_check() != COMMTASK_OK) {
        std::fprintf(stderr, "%s%s\n", commtask_last_error(), commtask_omp_last_error());
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
    const auto exchange = [&] {
        commtask_omp_bind(commtask_op_recv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD));
        commtask_omp_bind(commtask_op_send(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD));
    };
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(in : rank) depend(out : received) shared(exchange)
        exchange();
#pragma omp task depend(in : received) shared(received, seen)
        seen = received;
    }
    const int wrong = seen != left || commtask_omp_error_count() != 0;
    if (wrong) std::fprintf(stderr, "rank %d saw %d: %s\n", rank, seen, commtask_omp_last_error());

    const int unfinished = commtask_finalize() != COMMTASK_OK;
    MPI_Finalize();
    return wrong || unfinished;
}
