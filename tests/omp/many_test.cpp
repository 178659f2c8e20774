// SPDX-License-Identifier: Apache-2.0
//
// A hundred thousand communication tasks at once: none is lost, none comes early, and receives that are posted long
// before their sends fill no fixed pool. Slow under a sanitizer, so the number can be lowered by
// COMMTASK_TEST_TASKS.
#include "omp_fixture.hpp"
#include "resident_memory.hpp"

#include <array>
#include <memory>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

using omp_test::task_count;

class Many : public omp_test::ring {};

TEST_F(Many, TasksWithADependentEachAreAllCompleted) {
    const int n = task_count();
    std::vector<char> cells(static_cast<std::size_t>(n));
    std::atomic<int> n_run = 0;
    int n_seen = 0;
#pragma omp parallel
#pragma omp single
    {
        for (char& cell : cells) {
            COMM_TASK(noop(comm), out(&cell));
#pragma omp task depend(in : cell) shared(n_run)
            n_run.fetch_add(1, std::memory_order_relaxed);
        }
#pragma omp taskwait
        n_seen = n_run;
    }
    EXPECT_EQ(n_seen, n);
}

/// Round after round of the same: what the first rounds took is used again.
TEST_F(Many, TasksThatHaveEndedLeaveNoMemoryBehind) {
    if (task_count() < 100000) GTEST_SKIP() << "a sanitizer keeps memory of its own";
    const int n = task_count() / 20;
    constexpr int n_cells = 64;
    std::array<int, n_cells> in{};
    std::array<int, n_cells> out{};
    const auto round = [&] {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            for (int i = 0; i < n; ++i) {
                const auto k = static_cast<std::size_t>(i % n_cells);
                COMM_TASK(recv(&in[k], 1, MPI_INT, left, i % n_cells, comm), out(&in[k]));
                int* const cell = &out[k];
#pragma omp task depend(inout : *cell) firstprivate(cell)
                ++*cell;
                COMM_TASK(send(cell, 1, MPI_INT, right, i % n_cells, comm), inout(cell));
            }
            EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
        }
    };
    // On a busy machine more tasks may be open at once in a late round than in any before it: enough rounds that this is not a leak.
    constexpr int n_rounds = 12;
    for (int i = 0; i < 2; ++i) round();
    const std::size_t before = resident_bytes();
    for (int i = 0; i < n_rounds; ++i) round();
    const std::size_t n_messages = static_cast<std::size_t>(2 * n * n_rounds);
    EXPECT_LT(resident_bytes(), before + n_messages * 400);
}

/// libomp keeps every task whose dependences are not met; a creator that waits now and then keeps their number small.
TEST_F(Many, ABoundOnOpenTasksBoundsTheMemory) {
    if (task_count() < 100000) GTEST_SKIP() << "a sanitizer keeps memory of its own";
    const int n = task_count();
    if (omp_get_max_threads() == 1) GTEST_SKIP() << "what has ended stays in the queue of a team of one (ADR 0015)";
    int chain = 0;
    const std::size_t before = resident_bytes();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        for (int i = 0; i < n; ++i) {
            COMM_TASK(noop(comm), inout(&chain));
            if (i % 32 == 0) {
                EXPECT_EQ(commtask_omp_wait_some(32), COMMTASK_OK);
            }
        }
        EXPECT_EQ(commtask_omp_wait_some(0), COMMTASK_OK);
    }
    EXPECT_LT(resident_bytes(), before + static_cast<std::size_t>(n) * 200);
}

TEST_F(Many, ReceivesMayWaitForTheirSends) {
    const int n = task_count() / 10;
    std::vector<int> in(static_cast<std::size_t>(n), -1);
    std::vector<int> out(static_cast<std::size_t>(n));
    std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        for (int i = 0; i < n; ++i) {
            int* cell = &in[static_cast<std::size_t>(i)];
            COMM_TASK(recv(cell, 1, MPI_INT, left, i % 30000, comm), out(cell));
#pragma omp task depend(in : *cell) firstprivate(cell, i) shared(n_right)
            n_right.fetch_add(*cell == i ? 1 : 0, std::memory_order_relaxed);
        }
        for (int i = 0; i < n; ++i) {
            int* cell = &out[static_cast<std::size_t>(i)];
            *cell = i;
            COMM_TASK(send(cell, 1, MPI_INT, right, i % 30000, comm), in(cell));
        }
    }
    EXPECT_EQ(n_right, n);
}

} // namespace
