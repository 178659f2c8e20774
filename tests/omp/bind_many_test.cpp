// SPDX-License-Identifier: Apache-2.0
//
// A hundred thousand held tasks: none is lost, none comes early, and what they took is used again, also for tasks that start
// nothing. Slow under a sanitizer, so the number can be lowered by COMMTASK_TEST_TASKS.
#include "omp_fixture.hpp"
#include "resident_memory.hpp"

#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

using omp_test::task_count;

class HoldMany : public omp_test::ring {};

TEST_F(HoldMany, TasksWithADependentEachAreAllCompleted) {
    const int n = task_count();
    std::vector<char> cells(static_cast<std::size_t>(n));
    std::atomic<int> n_early = 0;
    std::atomic<int> n_run = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (std::size_t i = 0; i < cells.size(); ++i) {
        char* const cell = &cells[i];
#pragma omp task depend(out : *cell) firstprivate(cell)
        commtask_omp_bind(commtask_op_call(
            [](void* where) {
                *static_cast<char*>(where) = 1;
                return MPI_SUCCESS;
            },
            cell, comm));
#pragma omp task depend(in : *cell) firstprivate(cell) shared(n_run, n_early)
        {
            n_run.fetch_add(1, std::memory_order_relaxed);
            n_early.fetch_add(*cell == 1 ? 0 : 1, std::memory_order_relaxed);
        }
    }
    EXPECT_EQ(n_run, n);
    EXPECT_EQ(n_early, 0);
}

TEST_F(HoldMany, ReceivesMayWaitForTheirSends) {
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
#pragma omp task depend(out : *cell) firstprivate(cell, i)
            commtask_omp_bind(commtask_op_recv(cell, 1, MPI_INT, left, i % 30000, comm));
#pragma omp task depend(in : *cell) firstprivate(cell, i) shared(n_right)
            n_right.fetch_add(*cell == i ? 1 : 0, std::memory_order_relaxed);
        }
        for (int i = 0; i < n; ++i) {
            int* cell = &out[static_cast<std::size_t>(i)];
            *cell = i;
#pragma omp task depend(in : *cell) firstprivate(cell, i)
            commtask_omp_bind(commtask_op_send(cell, 1, MPI_INT, right, i % 30000, comm));
        }
    }
    EXPECT_EQ(n_right, n);
}

/// Binary trees of tasks, which start nothing but at their leaves.
void grow(int depth, const commtask_op& leaf, bool has_leaves) {
    if (depth == 0) {
        if (has_leaves) commtask_omp_bind_operation(&leaf, nullptr);
        return;
    }
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(depth, has_leaves) shared(leaf)
        grow(depth - 1, leaf, has_leaves);
    }
#pragma omp taskwait
}

TEST_F(HoldMany, TasksInsideTasksLeaveNoMemoryBehind) {
    if (task_count() < 100000) GTEST_SKIP() << "a sanitizer keeps memory of its own";
    const commtask_op leaf = commtask_op_noop(comm);
    constexpr int depth = 12;
    const auto round = [&](bool has_leaves) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task shared(leaf)
            grow(depth, leaf, has_leaves);
        }
    };
    for (int i = 0; i < 4; ++i) round(i % 2 == 0);
    const std::size_t before = resident_bytes();
    constexpr int n_rounds = 8;
    for (int i = 0; i < n_rounds; ++i) round(i == 0);
    EXPECT_LT(resident_bytes(), before + n_rounds * (std::size_t{2} << depth) * 100);
}

} // namespace
