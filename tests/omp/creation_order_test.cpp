// SPDX-License-Identifier: Apache-2.0
//
// Messages of one tag whose tasks OpenMP runs in another order than that of their creation: by priority, from the bodies of a taskloop,
// and where libomp has so many tasks that it runs further ones at once. They arrive in the order of creation, and nothing hangs.
#include "omp_fixture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

/// libomp's queue of a thread has 256 entries; a task that finds it full is run by its creator.
constexpr std::size_t many = 1500;

class CreationOrder : public omp_test::ring {
protected:
    /// What a rank sends as message `i`.
    [[nodiscard]] static int number_of(int of, std::size_t i) { return 10'000 * of + static_cast<int>(i); }
    void expect_from_left(const std::vector<int>& in) const {
        for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i], number_of(left, i)) << i;
    }
};

TEST_F(CreationOrder, HoldsWhateverThePriorities) {
    constexpr std::size_t n = 60;
    for (int round = 0; round < 5; ++round) {
        std::vector<int> out(n, -1);
        std::vector<int> in(n, -1);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        for (std::size_t i = 0; i < n; ++i) {
            const int late = static_cast<int>(i); // the later it was created, the more urgent
            int* const cell = &out[i];
#pragma omp task depend(out : *cell) priority(late) firstprivate(cell, i)
            {
                omp_test::compute(i % 2 == 0 ? 20'000 : 0);
                *cell = number_of(rank, i);
            }
            COMM_TASK(send(cell, 1, MPI_INT, right, 5, comm), in(cell), priority(late));
            COMM_TASK(recv(&in[i], 1, MPI_INT, left, 5, comm), out(&in[i]), priority(static_cast<int>(n) - late));
        }
        expect_from_left(in);
    }
}

/// Iterations are created in no order, so each has a tag of its own; its two messages of that tag keep theirs.
TEST_F(CreationOrder, HoldsWithinAnIterationOfATaskloop) {
    constexpr int n = 100;
    for (const int grain : {1, 7}) {
        std::vector<std::array<int, 2>> out(n, {-1, -1});
        std::vector<std::array<int, 2>> in(n, {-1, -1});
        int sum = -1;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskloop grainsize(grain) shared(out, in) untied
            for (int i = 0; i < n; ++i) {
                std::array<int, 2>& mine = out[static_cast<std::size_t>(i)];
                std::array<int, 2>& theirs = in[static_cast<std::size_t>(i)];
                int* const first = &mine[0];
                int* const second = &mine[1];
                const int value = 10 * i + 1000 * rank;
#pragma omp task depend(out : *first) firstprivate(first, value)
                {
                    omp_test::compute(20'000); // ready after the second
                    *first = value;
                }
                COMM_TASK(send(first, 1, MPI_INT, right, i, comm), in(first));
#pragma omp task depend(out : *second) firstprivate(second, value)
                *second = value + 1;
                COMM_TASK(send(second, 1, MPI_INT, right, i, comm), in(second));
                for (int& each : theirs) COMM_TASK(recv(&each, 1, MPI_INT, left, i, comm), out(&each));
#pragma omp taskwait
            }
            COMM_TASK(allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), out(&sum));
        }
        for (int i = 0; i < n; ++i) {
            const int value = 10 * i + 1000 * left;
            ASSERT_EQ(in[static_cast<std::size_t>(i)], (std::array{value, value + 1})) << i;
        }
        ASSERT_EQ(sum, n_ranks * (n_ranks - 1) / 2);
    }
}

TEST_F(CreationOrder, HoldsWhereTheCreatorRunsTasksItself) {
    std::vector<int> out(many, -1);
    std::vector<int> in(many, -1);
    std::atomic<int> n_seen{0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (std::size_t i = 0; i < many; ++i) {
        int* const cell = &out[i];
        int* const come = &in[i];
#pragma omp task depend(out : *cell) firstprivate(cell, i)
        *cell = number_of(rank, i);
        COMM_TASK(send(cell, 1, MPI_INT, right, 5, comm), in(cell));
        COMM_TASK(recv(come, 1, MPI_INT, left, 5, comm), out(come));
#pragma omp task depend(in : *come) firstprivate(come, i) shared(n_seen)
        n_seen += *come == number_of(left, i) ? 1 : 0;
    }
    EXPECT_EQ(n_seen, static_cast<int>(many));
    expect_from_left(in);
}

/// All at once, when a message to the rank itself comes, whose send is created last.
TEST_F(CreationOrder, HoldsWhereManyTasksAreReleasedTogether) {
    std::vector<int> out(many, -1);
    std::vector<int> in(many, -1);
    int gate = 0;
    int word = 1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(recv(&gate, 1, MPI_INT, rank, 6, comm), out(&gate));
        for (std::size_t i = 0; i < many; ++i) {
            int* const cell = &out[i];
#pragma omp task depend(in : gate) depend(out : *cell) firstprivate(cell, i)
            *cell = number_of(rank, i);
            COMM_TASK(send(cell, 1, MPI_INT, right, 5, comm), in(cell));
            COMM_TASK(recv(&in[i], 1, MPI_INT, left, 5, comm), in(&gate), out(&in[i]));
        }
        COMM_TASK(send(&word, 1, MPI_INT, rank, 6, comm), in(&word));
    }
    expect_from_left(in);
}

} // namespace
