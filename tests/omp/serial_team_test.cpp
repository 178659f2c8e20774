// SPDX-License-Identifier: Apache-2.0
//
// Teams of one thread, thousands of times: libomp forgets a dependent there when the event was fulfilled before the
// dependent was created, so taskwait and taskgroup return too early. Each run lets completions fall at random moments
// before, between and after the creation of the dependents.
#include "omp_fixture.hpp"

#include <array>
#include <cstdlib>

namespace {

using omp_test::compute;

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

int repetitions() {
    const char* text = std::getenv("COMMTASK_TEST_REPETITIONS");
    return text != nullptr ? std::atoi(text) : 1000;
}

class SerialTeam : public omp_test::ring {
protected:
    static constexpr std::size_t max_pairs = 3;
    omp_test::random_number random{12345};
    int n_too_early = 0;

    /// A wait that does not wait shows in the counts, not in the memory of a function that has returned.
    std::array<int, max_pairs> cell{};
    std::array<int, max_pairs> n_runs{};

    std::size_t n_pairs = 0;

    /// Pairs of a communication task and a dependent that may be created long after the communication has ended. Few of
    /// them, since any that is still open hides that another was forgotten.
    void create_pairs() {
        n_runs.fill(0);
        n_pairs = 1 + static_cast<std::size_t>(random.below(max_pairs));
        for (std::size_t i = 0; i < n_pairs; ++i) {
            int* data = &cell[i];
            int* runs = &n_runs[i];
            COMM_TASK(noop(comm), out(data));
            compute(random.below(20000));
#pragma omp task depend(inout : *data) firstprivate(runs)
            ++*runs;
            if (random.below(2) == 0) {
                COMM_TASK(noop(comm), inout(data));
#pragma omp task depend(in : *data) firstprivate(runs)
                *runs += 0;
            }
        }
    }
    void count_misses() {
        for (std::size_t i = 0; i < n_pairs; ++i) n_too_early += n_runs[i] != 1;
    }
};

TEST_F(SerialTeam, WaitsForEveryDependentInTaskwait) {
    for (int run = 0; run < repetitions(); ++run) {
#pragma omp parallel num_threads(1)
        {
            create_pairs();
#pragma omp taskwait
            count_misses();
        }
    }
    EXPECT_EQ(n_too_early, 0);
}

TEST_F(SerialTeam, WaitsForEveryDependentInTaskgroup) {
    for (int run = 0; run < repetitions(); ++run) {
#pragma omp parallel num_threads(1)
        {
#pragma omp taskgroup
            create_pairs();
            count_misses();
        }
    }
    EXPECT_EQ(n_too_early, 0);
}

TEST_F(SerialTeam, WaitsForEveryDependentOutsideOfParallelRegions) {
    if (omp_test::tasks_need_a_region()) GTEST_SKIP() << "Archer cannot follow tasks outside of parallel regions";
    for (int run = 0; run < repetitions(); ++run) {
        create_pairs();
#pragma omp taskwait
        count_misses();
    }
    EXPECT_EQ(n_too_early, 0);
}

TEST_F(SerialTeam, WaitsForEveryDependentAtTheEndOfTheRegion) {
    for (int run = 0; run < repetitions(); ++run) {
#pragma omp parallel num_threads(1)
        create_pairs();
        count_misses();
    }
    EXPECT_EQ(n_too_early, 0);
}

TEST_F(SerialTeam, WaitsInDependentsThatCreateAndWaitThemselves) {
    for (int run = 0; run < repetitions() / 4; ++run) {
        int outer = 0;
        int n_outer = 0;
#pragma omp parallel num_threads(1)
        {
            COMM_TASK(noop(comm), out(&outer));
            compute(random.below(20000));
#pragma omp task depend(inout : outer) shared(n_outer)
            {
                create_pairs();
#pragma omp taskwait
                count_misses();
                ++n_outer;
            }
            COMM_TASK(noop(comm), inout(&outer));
            compute(random.below(20000));
#pragma omp task depend(in : outer) shared(n_outer)
            ++n_outer;
#pragma omp taskwait
            n_too_early += n_outer != 2;
        }
    }
    EXPECT_EQ(n_too_early, 0);
}

// The receive, what uses it, and only then the send that it waits for: a team of one thread that waited in the
// receive, or in front of its dependent, would wait for ever.
TEST_F(SerialTeam, ReceivesFromItselfBeforeItSends) {
    for (int run = 0; run < repetitions(); ++run) {
        int in = -1;
        int seen = -1;
        int value = run;
#pragma omp parallel num_threads(1)
        {
            COMM_TASK(recv(&in, 1, MPI_INT, left, 3, comm), out(&in));
#pragma omp task depend(in : in) shared(in, seen)
            seen = in;
            compute(random.below(2000));
            COMM_TASK(send(&value, 1, MPI_INT, right, 3, comm), in(&value));
#pragma omp taskwait
            n_too_early += seen != run;
        }
    }
    EXPECT_EQ(n_too_early, 0);
}

/// Answers that are still in libomp's queue when their parents have ended must not take the ancestors' memory along.
TEST_F(SerialTeam, CommunicatesInTasksOfTasks) {
    int sum = 0;
    for (int run = 0; run < repetitions() / 10; ++run) {
#pragma omp parallel num_threads(1)
#pragma omp single
        {
            for (int outer = 0; outer < 3; ++outer) {
#pragma omp task shared(sum)
                {
                    std::array<int, 64> mine{};
                    for (int inner = 0; inner < 3; ++inner) {
#pragma omp task shared(sum, mine)
                        {
                            int in = 0;
                            int out = 1;
                            COMM_TASK(recv(&in, 1, MPI_INT, left, inner, comm), out(&in));
                            COMM_TASK(send(&out, 1, MPI_INT, right, inner, comm), in(&out));
#pragma omp taskwait
                            sum += in;
                            mine[static_cast<std::size_t>(inner)] = 1;
                        }
                    }
#pragma omp taskwait
                    for (const int one : mine) sum += one;
                }
            }
        }
    }
    EXPECT_EQ(sum, repetitions() / 10 * 3 * 3 * 2);
}

/// A task waits in libomp for what another one sends, which is released by a message that ended in the same pass. Tasks nest
/// deeper than those in which a start drives.
TEST_F(SerialTeam, ATaskMayWaitForWhatEndedBesideItsOwnMessage) {
    constexpr int n = 12;
    std::array<int, n> first{};
    std::array<int, n> second{};
    const int value = 5;
    for (int run = 0; run < 20; ++run) {
        second.fill(0);
#pragma omp parallel num_threads(1)
#pragma omp single
        {
            for (int i = 0; i < n; ++i) {
                int* const here = &first[static_cast<std::size_t>(i)];
                int* const answer = &second[static_cast<std::size_t>(i)];
                COMM_TASK(recv(here, 1, MPI_INT, rank, i, comm), out(here));
#pragma omp task depend(in : *here) firstprivate(answer, i)
                {
                    COMM_TASK(recv(answer, 1, MPI_INT, rank, n + i, comm), out(answer));
#pragma omp taskwait
                }
                if (i > 0) COMM_TASK(send(&value, 1, MPI_INT, rank, n + i - 1, comm), in(here));
            }
            COMM_TASK(send(&value, 1, MPI_INT, rank, 2 * n - 1, comm));
            for (int i = 0; i < n; ++i) {
                EXPECT_EQ(commtask_post(commtask_op_send(&value, 1, MPI_INT, rank, i, comm), nullptr, nullptr),
                          COMMTASK_OK);
            }
            EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
#pragma omp taskwait
        }
        for (const int each : second) EXPECT_EQ(each, value);
    }
}

} // namespace
