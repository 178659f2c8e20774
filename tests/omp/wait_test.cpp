// SPDX-License-Identifier: Apache-2.0
//
// Waiting through the library inside a team: the thread runs tasks, drives the lane where the worker shares its core, and
// must find every event that was fulfilled before it came, by whom ever. Run with teams of one, two and four threads, with
// a worker of its own and with a shared one.
#include "omp_fixture.hpp"

#include <array>
#include <cstdlib>
#include <vector>

namespace {

using omp_test::compute;

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

int repetitions() {
    const char* text = std::getenv("COMMTASK_TEST_REPETITIONS");
    return text != nullptr ? std::atoi(text) : 100;
}

/// Waits, outside of OpenMP, until the runtime has ended `n` more tasks than at `before`.
std::uint64_t n_ended() {
    commtask_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(commtask_get_info(&info), COMMTASK_OK);
    return info.n_tasks_ended;
}

class Wait : public omp_test::ring {
protected:
    static constexpr int n_links = 40;
    omp_test::random_number random{777};

    /// A chain around the ring: each link receives what the neighbour computed, computes, and sends. The receives of two
    /// links may be outstanding at once.
    struct chain {
        std::array<int, 2> ghost{};
        std::array<int, 2> edge{};
        int value = 0;
    };

    void create_chain(chain& c) {
        for (int i = 0; i < n_links; ++i) {
            const auto p = static_cast<std::size_t>(i % 2);
            int* const ghost = &c.ghost[p];
            int* const edge = &c.edge[p];
            int* const value = &c.value;
#pragma omp task depend(in : *value) depend(out : *edge) firstprivate(edge, value)
            *edge = *value;
            COMM_TASK(recv(ghost, 1, MPI_INT, left, i % 2, comm), out(ghost));
            COMM_TASK(send(edge, 1, MPI_INT, right, i % 2, comm), in(edge));
            const int work = random.below(3000);
#pragma omp task depend(in : *ghost) depend(inout : *value) firstprivate(ghost, value, work)
            {
                compute(work);
                *value = *ghost + 1;
                commtask_omp_progress();
            }
        }
    }
};

TEST_F(Wait, RunsAChainOfTasksAndMessages) {
    for (int run = 0; run < repetitions() / 10; ++run) {
        chain c;
        int code = COMMTASK_OK;
        int seen = -1;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskgroup
            {
                create_chain(c);
                code = commtask_omp_wait_all();
            }
            seen = c.value;
        }
        EXPECT_EQ(code, COMMTASK_OK) << commtask_omp_last_error();
        ASSERT_EQ(seen, n_links);
    }
}

TEST_F(Wait, IsContentWithAsManyOpenTasksAsItIsTold) {
    constexpr std::size_t most_open = 3;
    int cell = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        const std::uint64_t before = n_ended();
        for (std::size_t i = 1; i <= 200; ++i) {
            COMM_TASK(noop(comm), inout(&cell));
            EXPECT_EQ(commtask_omp_wait_some(most_open), COMMTASK_OK);
            EXPECT_LE(i, n_ended() - before + most_open);
        }
        // What a receive needs is made after it: with room for one that is open it does not wait for that.
        int in = -1;
        int out = 7;
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
        COMM_TASK(recv(&in, 1, MPI_INT, left, 0, comm), out(&in));
        EXPECT_EQ(commtask_omp_wait_some(1), COMMTASK_OK);
        COMM_TASK(send(&out, 1, MPI_INT, right, 0, comm), in(&out));
        EXPECT_EQ(commtask_omp_wait_some(0), COMMTASK_OK);
        EXPECT_EQ(in, 7);
    }
}

TEST_F(Wait, FindsWhatEndedBeforeItBegan) {
    for (int run = 0; run < repetitions(); ++run) {
        constexpr int n = 3;
        std::array<int, n> cell{};
        std::atomic<int> n_runs = 0;
        const std::uint64_t before = n_ended();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            for (int& data : cell) {
                COMM_TASK(noop(comm), out(&data));
#pragma omp task depend(inout : data) shared(n_runs)
                ++n_runs;
                // Waits for the task before, so that something is left to wait for.
                COMM_TASK(noop(comm), in(&data));
            }
            while (n_ended() < before + n) {}
            EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
        }
        ASSERT_EQ(n_runs, n);
    }
}

TEST_F(Wait, IsCalledInsideTasksThatItRuns) {
    for (int run = 0; run < repetitions() / 10; ++run) {
        std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            int first = 0;
            COMM_TASK(noop(comm), out(&first));
#pragma omp task depend(in : first) shared(n_right)
            {
                int second = 0;
#pragma omp taskgroup
                {
                    COMM_TASK(noop(comm), out(&second));
#pragma omp task depend(inout : second) shared(second)
                    second = 1;
                    EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
                }
                n_right += second;
            }
            EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
        }
        ASSERT_EQ(n_right, 1);
    }
}

// The bell of the outer region lies in a queue that the inner one does not have.
TEST_F(Wait, InAnInnerRegionLeavesTheOuterOnesTasksAlone) {
    if (omp_test::tasks_need_a_region()) GTEST_SKIP() << "Archer cannot follow tasks outside of parallel regions";
    int cell = 0;
    int seen = 0;
    const std::uint64_t before = n_ended();
    COMM_TASK(noop(comm), out(&cell));
#pragma omp task depend(in : cell) shared(seen)
    seen = 1;
    while (n_ended() < before + 1) {}
    for (const int n_threads : {1, 2}) {
#pragma omp parallel num_threads(n_threads)
#pragma omp master
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
    }
#pragma omp taskwait
    EXPECT_EQ(seen, 1);
}

TEST_F(Wait, APreparedTaskThatIsRefusedGivesItsPlaceUp) {
    commtask_omp_set_error_handler([](const commtask_omp_error*, void*) {}, nullptr);
    const commtask_omp_task prepared = commtask_omp_prepare(commtask_op_barrier(comm), COMMTASK_NONE, nullptr);
    EXPECT_EQ(commtask_omp_start_prepared(&prepared, static_cast<omp_event_handle_t>(0)), COMMTASK_ERR_ARGUMENT);
    commtask_omp_set_error_handler(nullptr, nullptr);
    commtask_omp_clear_errors();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(barrier(comm)); // waits for ever if the place before it is still taken
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
    }
}

TEST_F(Wait, WaitsForPreparedTasksUntilTheyAreDropped) {
    const commtask_omp_task prepared = commtask_omp_prepare(commtask_op_noop(comm), COMMTASK_NONE, nullptr);
    EXPECT_EQ(commtask_omp_drop(&prepared), COMMTASK_OK);
    EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
}

TEST_F(Wait, ReturnsWhenTasksWereRefusedOrDiscarded) {
    commtask_omp_set_error_handler([](const commtask_omp_error*, void*) {}, nullptr);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        int cell = 0;
        COMM_TASK(send(nullptr, 1, MPI_INT, right, 0, comm), in(&cell));
        COMM_TASK(send(&cell, 1, MPI_INT, n_ranks + 7, 0, comm), in(&cell));
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
    }
    EXPECT_EQ(commtask_omp_error_count(), 2U);
    commtask_omp_set_error_handler(nullptr, nullptr);
    commtask_omp_clear_errors();
}

TEST_F(Wait, IsRefusedInsideACallback) {
    static std::atomic<int> code;
    static std::atomic<int> driving_code;
    code = COMMTASK_OK;
    driving_code = COMMTASK_OK;
    commtask_omp_set_error_handler(
        [](const commtask_omp_error*, void*) {
            code = commtask_omp_wait_all();
            driving_code = commtask_omp_progress();
        },
        nullptr);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(call([](void*) { return MPI_ERR_OTHER; }, nullptr, comm)); // fails on the worker
    }
    EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
    EXPECT_EQ(driving_code, COMMTASK_ERR_WORKER_THREAD);
    commtask_omp_set_error_handler(nullptr, nullptr);
    commtask_omp_clear_errors();
}

TEST_F(Wait, ProgressBringsAMessageInWhereTheTeamDoesNothingElse) {
    for (int run = 0; run < repetitions() / 10; ++run) {
        int in = -1;
        int out = 100 + rank;
        int seen = -1;
        const std::uint64_t before = n_ended();
#pragma omp parallel num_threads(1)
        {
            COMM_TASK(recv(&in, 1, MPI_INT, left, 4, comm), out(&in));
#pragma omp task depend(in : in) shared(in, seen)
            seen = in;
            COMM_TASK(send(&out, 1, MPI_INT, right, 4, comm), in(&out));
            while (n_ended() < before + 2) EXPECT_EQ(commtask_omp_progress(), COMMTASK_OK);
        }
        ASSERT_EQ(seen, 100 + left);
    }
}

} // namespace
