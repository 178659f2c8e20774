// SPDX-License-Identifier: Apache-2.0
//
// The MPI functions that ask for completion, each with the trigger in front. While it is not armed this costs a load
// and an increment, some nanoseconds, which the measured time contains.
#include "unblock/completion_trigger.h"

#include <mpi.h>

#include <atomic>

#include "harness/clock.h"

namespace {

// What the compute thread tells and what it reads; `due` is written last and read first.
std::atomic<std::uint64_t> due{0};
std::atomic<std::uint64_t> came_at{0};
std::atomic<std::uint64_t> n_tests{0};
int message_tag = 0;
int message = 0;

void send_now() {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(&message, 1, MPI_INT, 0, message_tag, MPI_COMM_SELF, &request);
    const std::uint64_t now = commtask::bench::ticks();
    PMPI_Request_free(&request);
    due.store(0, std::memory_order_relaxed); // only this thread reads it before it is armed again
    came_at.store(now, std::memory_order_release);
}

void before_test() {
    n_tests.store(n_tests.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::uint64_t armed_for = due.load(std::memory_order_acquire); // partner: send_before_a_test
    if (armed_for != 0 && commtask::bench::ticks() >= armed_for) {
        send_now();
    }
}

} // namespace

namespace commtask::bench {

void send_before_a_test(std::uint64_t delay_ns, int tag) {
    message_tag = tag;
    came_at.store(0, std::memory_order_relaxed);
    const auto delay_ticks = static_cast<std::uint64_t>(static_cast<double>(delay_ns) / ns_per_tick());
    due.store(ticks() + delay_ticks, std::memory_order_release); // partner: before_test
}

std::uint64_t message_came_at() noexcept { return came_at.load(std::memory_order_acquire); }

std::uint64_t tests_seen() noexcept { return n_tests.load(std::memory_order_relaxed); }

} // namespace commtask::bench

#define COMMTASK_BENCH_EXPORT __attribute__((visibility("default")))

extern "C" {

COMMTASK_BENCH_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    before_test();
    return PMPI_Test(request, flag, status);
}

COMMTASK_BENCH_EXPORT int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    before_test();
    return PMPI_Testany(count, requests, index, flag, status);
}

COMMTASK_BENCH_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    before_test();
    return PMPI_Testall(count, requests, flag, statuses);
}

COMMTASK_BENCH_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int* n_done, int indices[],
                                       MPI_Status statuses[]) {
    before_test();
    return PMPI_Testsome(count, requests, n_done, indices, statuses);
}

COMMTASK_BENCH_EXPORT int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    before_test();
    return PMPI_Request_get_status(request, flag, status);
}
}
