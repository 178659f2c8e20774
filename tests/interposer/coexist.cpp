// SPDX-License-Identifier: Apache-2.0
//
// A program that uses commtask itself: its tasks, its plain MPI calls and those of the interposer share one runtime in
// one process. Natively and interposed it must give the same results, whichever of both starts and ends the runtime.
#include <commtask/commtask.h>
#include <mpi.h>

#include <array>

#include "probe.h"

namespace {

void expect(bool condition, const char* what) {
    if (!condition) {
        say("%s: %s", what, commtask_last_error());
        EXPECT(condition);
    }
}

void turn(int number) {
    const int out = me * 100 + number;
    int by_task = -1;
    int by_mpi = -1;
    int sum = -1;
    std::array<commtask_t, 2> tasks{};
    std::array<MPI_Request, 2> requests{};
    const commtask_op recv = commtask_op_recv(&by_task, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD);
    const commtask_op send = commtask_op_send(&out, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD);
    expect(commtask_post_operation(&recv, nullptr, &tasks[0]) >= 0, "post of a receive");
    MPI_Irecv(&by_mpi, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD, &requests[0]);
    expect(commtask_post_operation(&send, nullptr, &tasks[1]) >= 0, "post of a send");
    MPI_Isend(&out, 1, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &requests[1]);
    expect(commtask_wait_all(tasks.size(), tasks.data(), nullptr) >= 0, "wait for the tasks");
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Allreduce(&by_task, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(by_task == previous_rank() * 100 + number && by_mpi == by_task, "what was received");
    say("turn %d: %d %d, sum %d", number, by_task, by_mpi, sum);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    probe_start();
    int sum = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // before the program starts its runtime
    expect(commtask_init(nullptr) >= 0, "commtask_init");
    for (int number = 0; number < 20; ++number) {
        turn(number);
    }
    expect(commtask_finalize() >= 0, "commtask_finalize");
    MPI_Barrier(MPI_COMM_WORLD); // after it has ended it
    int last = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, next_rank(), 3, &last, 1, MPI_INT, previous_rank(), 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    say("last %d, sum %d", last, sum);
    MPI_Finalize();
    return probe_result();
}
