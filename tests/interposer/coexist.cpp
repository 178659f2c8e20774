// SPDX-License-Identifier: Apache-2.0
//
// A program that uses commtask itself: its tasks, its plain MPI calls and those of the interposer share one runtime in
// one process. Natively and interposed it must give the same results, whichever of both starts and ends the runtime.
#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <cstdio>

namespace {

int rank = 0;
int n_ranks = 1;
bool is_right = true;

void expect(bool condition, const char* what) {
    if (!condition) {
        std::printf("[%d] FAULT: %s (%s)\n", rank, what, commtask_last_error());
        is_right = false;
    }
}

void turn(int number) {
    const int next = (rank + 1) % n_ranks;
    const int previous = (rank + n_ranks - 1) % n_ranks;
    const int out = rank * 100 + number;
    int by_task = -1;
    int by_mpi = -1;
    int sum = -1;
    std::array<commtask_t, 2> tasks{};
    std::array<MPI_Request, 2> requests{};
    const commtask_op recv = commtask_op_recv(&by_task, 1, MPI_INT, previous, 1, MPI_COMM_WORLD);
    const commtask_op send = commtask_op_send(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    expect(commtask_post(&recv, nullptr, &tasks[0]) >= 0, "post of a receive");
    MPI_Irecv(&by_mpi, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[0]);
    expect(commtask_post(&send, nullptr, &tasks[1]) >= 0, "post of a send");
    MPI_Isend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    expect(commtask_wait_all(tasks.size(), tasks.data(), -1, nullptr) >= 0, "wait for the tasks");
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Allreduce(&by_task, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(by_task == previous * 100 + number && by_mpi == by_task, "what was received");
    std::printf("[%d] turn %d: %d %d, sum %d\n", rank, number, by_task, by_mpi, sum);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::setvbuf(stdout, nullptr, _IOLBF, 4096);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // before the program starts its runtime
    expect(commtask_init(nullptr) >= 0, "commtask_init");
    for (int number = 0; number < 20; ++number) {
        turn(number);
    }
    expect(commtask_finalize() >= 0, "commtask_finalize");
    MPI_Barrier(MPI_COMM_WORLD); // after it has ended it
    int last = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n_ranks, 3, &last, 1, MPI_INT, (rank + n_ranks - 1) % n_ranks, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("[%d] last %d, sum %d\n", rank, last, sum);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
