// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's tasks for a trace: in every round a receive from this rank, a task that waits for it, a message of what that computed, and
// only then the send, so that each is sure to wait for the one before.
#include <commtask/omp.h>

#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
    constexpr int n_rounds = 10;
    int given = 0;
    int rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (commtask_init(nullptr) != COMMTASK_OK) {
        std::fprintf(stderr, "%s\n", commtask_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int sent = 7;
    int got[n_rounds] = {};
    int sums[n_rounds] = {};
    int returned[n_rounds] = {};
    int sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n_rounds; ++i) {
        int* const place = &got[i];
        int* const now = &sums[i];
        int* const back = &returned[i];
        COMM_TASK(recv(place, 1, MPI_INT, rank, i, MPI_COMM_WORLD), out(place));
#pragma omp task depend(in : *place) depend(inout : sum) depend(out : *now)
        *now = sum += *place;
        COMM_TASK(recv(back, 1, MPI_INT, rank, n_rounds + i, MPI_COMM_WORLD), out(back));
        COMM_TASK(send(now, 1, MPI_INT, rank, n_rounds + i, MPI_COMM_WORLD), in(now));
        COMM_TASK(send(&sent, 1, MPI_INT, rank, i, MPI_COMM_WORLD), in(&sent));
    }
    const bool is_right = sum == n_rounds * sent && returned[n_rounds - 1] == sum;
    commtask_finalize();
    MPI_Finalize();
    return is_right ? 0 : 1;
}
