// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait in OpenMP make progress by themselves where the worker has no core of its own. Here the worker gets next to no
// processor time, and shares one CPU with the team: a construct whose waiting thread leaves progress to the worker takes
// hundreds of milliseconds for each message, so these tests end within their time limit only if no construct does. No test
// calls commtask_omp_wait_all or commtask_omp_progress.
#include "omp_fixture.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <sched.h>
#include <set>
#include <thread>
#include <vector>

namespace {

std::set<pid_t> threads_of_process() {
    std::set<pid_t> found;
    DIR* const tasks = opendir("/proc/self/task");
    while (const dirent* const each = readdir(tasks)) {
        pid_t id = 0;
        if (std::from_chars(each->d_name, each->d_name + std::strlen(each->d_name), id).ec == std::errc{}) {
            found.insert(id);
        }
    }
    closedir(tasks);
    return found;
}

/// Starts the library with workers that the operating system runs last of all, on the one CPU that the process has.
class starved_library : public testing::Environment {
public:
    void SetUp() override {
        const std::set<pid_t> before = threads_of_process();
        ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        for (const pid_t id : threads_of_process()) {
            if (!before.contains(id)) {
                const sched_param none{};
                ASSERT_EQ(sched_setscheduler(id, SCHED_IDLE, &none), 0);
                ASSERT_EQ(sched_setaffinity(id, sizeof one, &one), 0);
            }
        }
    }
    void TearDown() override { EXPECT_EQ(commtask_finalize(), COMMTASK_OK) << commtask_last_error(); }
};
const auto* const library = testing::AddGlobalTestEnvironment(new starved_library);

class OwnProgress : public omp_test::ring {
protected:
    static constexpr int n_links = 100;

    /// A chain around the ring: each link receives, computes and sends what the next rank's link needs.
    struct chain {
        int ghost = 0;
        int edge = 0;
        int value = 0;
    };

    void create_chain(chain& c, int n = n_links) {
        int* const ghost = &c.ghost;
        int* const edge = &c.edge;
        int* const value = &c.value;
        for (int i = 0; i < n; ++i) {
#pragma omp task depend(in : *value) depend(out : *edge)
            *edge = *value;
            COMM_TASK(recv(ghost, 1, MPI_INT, left, 1, comm), out(ghost));
            COMM_TASK(send(edge, 1, MPI_INT, right, 1, comm), in(edge));
#pragma omp task depend(in : *ghost) depend(inout : *value)
            *value = *ghost + 1;
        }
    }
};

TEST_F(OwnProgress, InATaskgroup) {
    chain c;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    create_chain(c);
    EXPECT_EQ(c.value, n_links);
}

TEST_F(OwnProgress, InATaskwait) {
    chain c;
#pragma omp parallel
#pragma omp single
    {
        create_chain(c);
#pragma omp taskwait
        EXPECT_EQ(c.value, n_links);
    }
}

TEST_F(OwnProgress, InTheBarrierAfterSingle) {
    chain c;
#pragma omp parallel
    {
#pragma omp single
        create_chain(c);
        EXPECT_EQ(c.value, n_links);
    }
}

TEST_F(OwnProgress, InTaskwaitOfATask) {
    chain c;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task untied
        {
            create_chain(c);
#pragma omp taskwait
            c.value += 100;
        }
    }
    EXPECT_EQ(c.value, n_links + 100);
}

TEST_F(OwnProgress, ForTasksOfTasksInATaskgroup) {
    constexpr int n = 8;
    std::array<chain, n> c{};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        for (int i = 0; i < n; ++i) {
            // One after the other, as the chains have one tag.
#pragma omp task depend(inout : c) shared(c) firstprivate(i)
            {
#pragma omp taskgroup
                create_chain(c[static_cast<std::size_t>(i)], 5);
            }
        }
    }
    for (const chain& each : c) EXPECT_EQ(each.value, 5);
}

TEST_F(OwnProgress, WhileAMessageIsOpenThatTheConstructDoesNotWaitFor) {
    int early = 0;
    const int answer = 7;
    chain c;
#pragma omp parallel
#pragma omp single
    {
        COMM_TASK(recv(&early, 1, MPI_INT, left, 2, comm), out(&early));
#pragma omp taskgroup
        create_chain(c);
        EXPECT_EQ(c.value, n_links);
        // Only now does the neighbour get what the first message is waiting for.
        COMM_TASK(send(&answer, 1, MPI_INT, right, 2, comm));
#pragma omp taskwait
        EXPECT_EQ(early, answer);
    }
}

TEST_F(OwnProgress, InManyRegionsWithMoreMessagesThanAreCreatedAhead) {
    constexpr int n = 300;
    std::vector<int> in(n);
    for (int run = 0; run < 3; ++run) {
        std::vector<int> out(n, run);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            for (int i = 0; i < n; ++i) { // all of them wait for sends that are created later
                COMM_TASK(recv(&in[static_cast<std::size_t>(i)], 1, MPI_INT, left, i, comm),
                          out(&in[static_cast<std::size_t>(i)]));
            }
            for (int i = 0; i < n; ++i) {
                COMM_TASK(send(&out[static_cast<std::size_t>(i)], 1, MPI_INT, right, i, comm),
                          in(&out[static_cast<std::size_t>(i)]));
            }
        }
        for (const int each : in) ASSERT_EQ(each, run);
    }
}

TEST_F(OwnProgress, InATaskgroupThatIsCancelled) {
    for (int run = 0; run < 10; ++run) {
        int gate = 0;
        int never = -1;
        chain c;
        int* const edge = &c.edge;
        const int* const value = &c.value;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskgroup
            {
                create_chain(c, 3);
                // Nobody sends this one: it must not begin, and not be waited for.
#pragma omp task depend(in : *value) depend(inout : *edge) depend(out : gate)
                {
#pragma omp cancel taskgroup
                }
                COMM_TASK(recv(&never, 1, MPI_INT, left, 4, comm), in(&gate));
#pragma omp task depend(in : gate) shared(never)
                never = 1;
            }
            create_chain(c, 3);
        }
        EXPECT_EQ(never, -1);
    }
}

TEST_F(OwnProgress, InFinalAndUndeferredTasks) {
    chain c;
    chain d;
    bool is_false = rank < 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task final(!is_false) shared(c)
        {
            create_chain(c);
#pragma omp taskwait
        }
#pragma omp taskwait
#pragma omp task if (is_false) shared(d)
        {
            create_chain(d);
#pragma omp taskwait
        }
#pragma omp taskwait
    }
    EXPECT_EQ(c.value, n_links);
    EXPECT_EQ(d.value, n_links);
}

TEST_F(OwnProgress, InAnInnerRegion) {
    if (omp_get_max_threads() == 1)
        GTEST_SKIP() << "libomp 19 ends on an inner region in a task of a team of one thread";
    int early = 0;
    chain c;
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        COMM_TASK(recv(&early, 1, MPI_INT, left, 5, comm), out(&early));
#pragma omp parallel num_threads(2)
#pragma omp single
        create_chain(c); // the barriers at its end must not wait for the message of the outer region
        COMM_TASK(send(&rank, 1, MPI_INT, right, 5, comm));
    }
    omp_set_max_active_levels(levels);
    EXPECT_EQ(c.value, n_links);
    EXPECT_EQ(early, left);
}

TEST_F(OwnProgress, RunsNoTaskOnTopOfOneThatHoldsAMutex) {
    int ghost = 0;
    int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        for (int i = 0; i < 20; ++i) {
            COMM_TASK(recv(&ghost, 1, MPI_INT, left, 6, comm), out(&ghost));
#pragma omp task depend(in : ghost) shared(sum)
#pragma omp critical
            ++sum;
#pragma omp critical
            COMM_TASK(send(&rank, 1, MPI_INT, right, 6, comm)); // what it lets begin wants the same
        }
    }
    EXPECT_EQ(sum, 20);
}

// The last one: after it teams of one thread wait as libomp does.
TEST_F(OwnProgress, LeavesTasksOfAnEventOfTheProgramsToLibomp) {
#ifdef __clang__
    std::array<int, 2> cell{};
    const int* const in = &cell[1];
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event{};
#pragma omp task detach(event) depend(out : cell[0])
        {}
        std::thread other([event] { omp_fulfill_event(event); });
#pragma omp taskgroup
        {
            // Needs the event, whose fulfilment lies in libomp's queue.
            COMM_TASK(recv(&cell[1], 1, MPI_INT, left, 3, comm), out(&cell[1]));
            COMM_TASK(send(&rank, 1, MPI_INT, right, 3, comm), in(&cell[0]));
        }
        other.join();
    }
    EXPECT_EQ(*in, left);
#else
    GTEST_SKIP() << "gcc's code gets no event from libomp";
#endif
}

} // namespace
