// SPDX-License-Identifier: Apache-2.0
// A C++ program that uses only the installed package: each rank hands its number to the next one around the ring, as
// two communication tasks, and checks what came. Small, but it links, starts and stops the whole runtime.
#include <commtask/commtask.h>
#include <cstdio>

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (commtask_init(nullptr) != COMMTASK_OK) {
        std::fprintf(stderr, "commtask_init: %s\n", commtask_last_error());
        return 1;
    }
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);

    int received = -1;
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    const commtask_op recv = commtask_op_recv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD);
    const commtask_op send = commtask_op_send(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    commtask_t tasks[2] = {COMMTASK_NULL, COMMTASK_NULL};
    int wrong = commtask_post_operation(&recv, nullptr, &tasks[0]) != COMMTASK_OK;
    wrong |= commtask_post_operation(&send, nullptr, &tasks[1]) != COMMTASK_OK;
    wrong |= commtask_wait_all(2, tasks, nullptr) != COMMTASK_OK;
    wrong |= received != left;
    if (wrong) std::fprintf(stderr, "rank %d received %d: %s\n", rank, received, commtask_last_error());

    wrong |= commtask_finalize() != COMMTASK_OK;
    MPI_Finalize();
    return wrong;
}
