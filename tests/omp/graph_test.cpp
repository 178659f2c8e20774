// SPDX-License-Identifier: Apache-2.0
//
// Communication tasks inside every construct of OpenMP that can hold tasks, with teams of one, two and four threads: a
// dependent never runs before its data is there, and every wait waits for it. COMM_TASK is the only way used here, so
// the same file tests gcc and clang.
#include "omp_fixture.hpp"

#include <array>
#include <memory>
#include <vector>

namespace {

using omp_test::compute;

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class Graph : public omp_test::ring {
protected:
    /// One exchange in the ring whose receive is created before its send; adds to `n_right` when the dependent has seen
    /// the right number.
    void exchange(int tag, int* cell, int* out_cell, std::atomic<int>* n_right) {
        const int expected = 1000 * left + tag;
        *cell = -1;
        *out_cell = -1;
        COMM_TASK(recv(cell, 1, MPI_INT, left, tag, comm), out(cell));
#pragma omp task depend(in : *cell) firstprivate(cell, expected, n_right)
        {
            if (*cell == expected) n_right->fetch_add(1);
        }
        const int mine = 1000 * rank + tag;
#pragma omp task depend(out : *out_cell) firstprivate(out_cell, mine)
        *out_cell = mine;
        COMM_TASK(send(out_cell, 1, MPI_INT, right, tag, comm), in(out_cell));
    }
};

TEST_F(Graph, WaitsInTaskwait) {
    constexpr int n = 50;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
    int n_seen = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < n; ++i) exchange(i, &in[i], &out[i], &n_right);
#pragma omp taskwait
        n_seen = n_right;
    }
    EXPECT_EQ(n_seen, n);
}

TEST_F(Graph, WaitsInTaskgroup) {
    constexpr int n = 50;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
    int n_seen = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
            for (int i = 0; i < n; ++i) exchange(i, &in[i], &out[i], &n_right);
        }
        n_seen = n_right;
    }
    EXPECT_EQ(n_seen, n);
}

TEST_F(Graph, WaitsInABarrierAndAtTheEndOfTheRegion) {
    constexpr int n = 50;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
    std::atomic<int> n_behind = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        for (int i = 0; i < n; ++i) exchange(i, &in[i], &out[i], &n_right);
#pragma omp barrier
        if (n_right < n) n_behind.fetch_add(1);
#pragma omp single nowait
        for (int i = 0; i < n; ++i) exchange(n + i, &in[i], &out[i], &n_right);
    }
    EXPECT_EQ(n_behind, 0);
    EXPECT_EQ(n_right, 2 * n);
}

TEST_F(Graph, WorksOutsideOfParallelRegions) {
    if (omp_test::tasks_need_a_region()) GTEST_SKIP() << "Archer cannot follow tasks outside of parallel regions";
    constexpr int n = 50;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
    for (int i = 0; i < n; ++i) exchange(i, &in[i], &out[i], &n_right);
#pragma omp taskwait
    EXPECT_EQ(n_right, n);
#pragma omp taskgroup
    {
        for (int i = 0; i < n; ++i) exchange(i, &in[i], &out[i], &n_right);
    }
    EXPECT_EQ(n_right, 2 * n);
}

TEST_F(Graph, WorksInAnInnerRegionOfOneThread) {
    constexpr int n = 10;
    std::atomic<int> n_right = 0;
    std::atomic<int> n_teams = 0;
#pragma omp parallel
    {
        int in[n] = {};
        int out[n] = {};
        const int first_tag = 100 * omp_get_thread_num();
        n_teams.fetch_add(1);
#pragma omp parallel num_threads(1)
        {
            for (int i = 0; i < n; ++i) exchange(first_tag + i, &in[i], &out[i], &n_right);
#pragma omp taskwait
        }
    }
    EXPECT_EQ(n_right, n * n_teams);
}

#if defined(__clang__)
#pragma clang diagnostic push
// The counters that clang itself makes for a taskloop change their sign.
#pragma clang diagnostic ignored "-Wsign-conversion"
#endif
TEST_F(Graph, WorksInTaskloopBodies) {
    constexpr int n = 40;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop shared(in, out, n_right)
    for (std::size_t i = 0; i < n; ++i) exchange(static_cast<int>(i), &in[i], &out[i], &n_right);
    // A taskloop waits for all that its iterations created: it is a taskgroup.
    EXPECT_EQ(n_right, n);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

// Tied tasks that create communication tasks with a dependent and wait for them: the shape in which tied communication
// tasks deadlock.
TEST_F(Graph, LetsNestedTasksCreateAndWait) {
    constexpr int n_parents = 24;
    constexpr int n_each = 4;
    std::atomic<int> n_right = 0;
    std::atomic<int> n_too_early = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int parent = 0; parent < n_parents; ++parent) {
#pragma omp task shared(n_right, n_too_early) firstprivate(parent)
        {
            int in[n_each] = {};
            int out[n_each] = {};
            std::atomic<int> n_mine = 0;
            for (int i = 0; i < n_each; ++i) exchange(n_each * parent + i, &in[i], &out[i], &n_mine);
#pragma omp taskwait
            if (n_mine != n_each) n_too_early.fetch_add(1);
            n_right.fetch_add(n_mine);
        }
    }
    EXPECT_EQ(n_too_early, 0);
    EXPECT_EQ(n_right, n_parents * n_each);
}

TEST_F(Graph, WaitsForTasksOfParentsThatHaveEndedIfATaskgroupHoldsThem) {
    constexpr int n = 30;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
    int n_seen = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        for (int i = 0; i < n; ++i) {
#pragma omp task shared(in, out, n_right) firstprivate(i)
            exchange(i, &in[i], &out[i], &n_right);
        }
        n_seen = n_right;
    }
    EXPECT_EQ(n_seen, n);
}

TEST_F(Graph, RunsChainsOfCommunicationTasks) {
    constexpr int n_hops = 60;
    int token = rank;
    int n_wrong = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int hop = 0; hop < n_hops; ++hop) {
        COMM_TASK(sendrecv_replace(&token, 1, MPI_INT, right, hop, left, hop, comm), inout(&token));
        const int expected = ((rank - hop - 1) % n_ranks + n_ranks) % n_ranks;
#pragma omp task depend(inout : token) shared(token, n_wrong) firstprivate(expected)
        n_wrong += token != expected;
    }
    EXPECT_EQ(n_wrong, 0);
}

TEST_F(Graph, TakesManyAddressesAndListsMadeAtRunTime) {
    constexpr std::size_t n = 40;
    int parts[n] = {};
    std::vector<const void*> addresses;
    for (const int& part : parts) addresses.push_back(&part);
    int sum = 0;
    std::atomic<int> n_called = 0;
#pragma omp parallel
#pragma omp single
    {
        for (std::size_t i = 0; i < n; ++i) {
#pragma omp task depend(out : parts[i]) shared(parts) firstprivate(i)
            {
                compute(500);
                parts[i] = 1;
            }
        }
        COMM_TASK(call(omp_test::count_call, &n_called, comm), in_each(n, addresses.data()), out(&sum));
#pragma omp task depend(inout : sum) shared(sum, parts)
        for (const int part : parts) sum += part;
#pragma omp taskwait
    }
    EXPECT_EQ(sum, n);
    EXPECT_EQ(n_called, 1);
}

// Two rings of tasks become ready in opposite orders on even and odd ranks.
class Order : public Graph {};

TEST_F(Order, OfCollectivesIsThatOfTheirCreationOnEveryRank) {
    for (int round = 0; round < 20; ++round) {
        int a = 1;
        int b = 100;
        int sum_a = 0;
        int sum_b = 0;
        [[maybe_unused]] int gate = 0;
        const bool a_comes_late = (rank + round) % 2 == 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            // The tasks that make a and b ready run one after the other, in an order that differs between ranks.
            if (a_comes_late) {
#pragma omp task depend(out : b) depend(inout : gate) shared(b)
                b = 100 + round;
#pragma omp task depend(out : a) depend(inout : gate) shared(a)
                {
                    compute(20000);
                    a = 1 + round;
                }
            } else {
#pragma omp task depend(out : a) depend(inout : gate) shared(a)
                a = 1 + round;
#pragma omp task depend(out : b) depend(inout : gate) shared(b)
                {
                    compute(20000);
                    b = 100 + round;
                }
            }
            COMM_TASK(allreduce(&a, &sum_a, 1, MPI_INT, MPI_SUM, comm), in(&a), out(&sum_a));
            COMM_TASK(allreduce(&b, &sum_b, 1, MPI_INT, MPI_SUM, comm), in(&b), out(&sum_b));
        }
        ASSERT_EQ(sum_a, n_ranks * (1 + round));
        ASSERT_EQ(sum_b, n_ranks * (100 + round));
    }
}

TEST_F(Order, OfOrderedMessagesIsThatOfTheirCreation) {
    for (int round = 0; round < 20; ++round) {
        int first = -1;
        int second = -1;
        int got_first = -1;
        int got_second = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            COMM_TASK(recv(&got_first, 1, MPI_INT, left, 7, comm), out(&got_first), ordered);
            COMM_TASK(recv(&got_second, 1, MPI_INT, left, 7, comm), out(&got_second), ordered);
#pragma omp task depend(out : second) shared(second)
            second = 2;
#pragma omp task depend(inout : second) depend(out : first) shared(first)
            {
                compute(20000);
                first = 1;
            }
            COMM_TASK(send(&first, 1, MPI_INT, right, 7, comm), in(&first), ordered);
            COMM_TASK(send(&second, 1, MPI_INT, right, 7, comm), ordered);
        }
        ASSERT_EQ(got_first, 1);
        ASSERT_EQ(got_second, 2);
    }
}

} // namespace
