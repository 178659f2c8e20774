// SPDX-License-Identifier: Apache-2.0
//
// A hundred thousand communication tasks at once: none is lost, none comes early, and receives that are posted long
// before their sends fill no fixed pool. Slow under a sanitizer, so the number can be lowered by
// COMMTASK_TEST_TASKS.
#include "omp_fixture.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

int task_count() {
    const char* text = std::getenv("COMMTASK_TEST_TASKS");
    return text != nullptr ? std::atoi(text) : 100000;
}

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
