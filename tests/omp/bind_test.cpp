// SPDX-License-Identifier: Apache-2.0
//
// Communication that holds the task which started it, in every kind of task that OpenMP has: nobody who waits for the task
// may go on before its messages are there, and nothing may hang.
#include "bind_fixture.hpp"

#include <algorithm>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

/// Gives everything that is ready, and should not be, a chance to run.
void let_others_run() {
    for (int i = 0; i < 200; ++i) {
#pragma omp taskyield
        omp_test::compute(500);
    }
}

TEST_F(Hold, TasksOfThisProgramCanBeHeld) {
    EXPECT_EQ(commtask_omp_bind_check(), COMMTASK_OK) << commtask_omp_last_error();
}

TEST_F(Hold, DependentsWaitForWhatTheBodyOnlyStarted) {
    int sent = 7;
    int got = 0;
    std::atomic<bool> has_begun = false;
    std::atomic<int> seen = -1;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : got) shared(got, has_begun)
        {
            EXPECT_EQ(commtask_omp_bind(recv_from_myself(&got, 1)), COMMTASK_OK);
            has_begun = true;
        }
#pragma omp task depend(in : got) shared(got, seen)
        seen = got;
        while (!has_begun) {
#pragma omp taskyield
        }
        let_others_run();
        EXPECT_EQ(seen, -1);
        send_to_myself(&sent, 1);
#pragma omp taskwait
        EXPECT_EQ(seen, 7);
    }
}

TEST_F(Hold, OneTaskHoldsAnyNumberOfMessages) {
    constexpr int n_messages = 8;
    constexpr int n_rounds = 40;
    int in[n_rounds][n_messages] = {};
    int out[n_rounds][n_messages] = {};
    std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int round = 0; round < n_rounds; ++round) {
#pragma omp task depend(out : in[round]) shared(in) firstprivate(round)
        for (int i = 0; i < n_messages; ++i) {
            commtask_omp_bind(commtask_op_recv(&in[round][i], 1, MPI_INT, left, round * n_messages + i, comm));
        }
#pragma omp task depend(out : out[round]) shared(out) firstprivate(round)
        {
            for (int i = 0; i < n_messages; ++i) out[round][i] = 1000 * round + i;
            for (int i = 0; i < n_messages; ++i) {
                commtask_omp_bind(commtask_op_send(&out[round][i], 1, MPI_INT, right, round * n_messages + i, comm));
            }
        }
#pragma omp task depend(in : in[round]) shared(in, n_right) firstprivate(round)
        for (int i = 0; i < n_messages; ++i) n_right += in[round][i] == 1000 * round + i ? 1 : 0;
#pragma omp task depend(out : out[round]) shared(out) firstprivate(round)
        std::fill_n(out[round], n_messages, -1); // the sends must be done
    }
    EXPECT_EQ(n_right, n_rounds * n_messages);
}

TEST_F(Hold, WaitsThatAreNoDependencesWaitToo) {
    int in[4] = {-1, -1, -1, -1};
    int out[4] = {rank, rank, rank, rank};
#pragma omp parallel
    {
#pragma omp single
        {
#pragma omp taskgroup
            {
#pragma omp task
                exchange(in, out, 0);
            }
            EXPECT_EQ(in[0], left);
#pragma omp task
            exchange(&in[1], &out[1], 1);
#pragma omp taskwait
            EXPECT_EQ(in[1], left);
#pragma omp task depend(out : in[2])
            exchange(&in[2], &out[2], 2);
#pragma omp task if (0) depend(in : in[2])
            EXPECT_EQ(in[2], left);
#pragma omp task
            exchange(&in[3], &out[3], 3);
        }
        // The end of single is a barrier.
        EXPECT_EQ(in[3], left);
    }
}

TEST_F(Hold, OperationsThatEndBeforeTheBodyHoldNobodyUp) {
    std::atomic<int> n_called = 0;
    std::atomic<int> n_run = 0;
    constexpr int n = 50;
    [[maybe_unused]] char cell[n] = {};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(out : cell[i]) shared(n_called)
        {
            const int before = n_called;
            commtask_omp_bind(commtask_op_call(omp_test::count_call, &n_called, comm));
            while (n_called == before) {}
            omp_test::compute(5000);
            commtask_omp_bind(commtask_op_call(omp_test::count_call, &n_called, comm));
        }
#pragma omp task depend(in : cell[i]) shared(n_run)
        n_run.fetch_add(1);
    }
    EXPECT_EQ(n_called, 2 * n);
    EXPECT_EQ(n_run, n);
}

TEST_F(Hold, UntiedTasksMayChangeThreadsBetweenTheirMessages) {
    constexpr int n = 30;
    int in[n][2] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
#pragma omp task untied depend(out : in[i]) shared(in) firstprivate(i)
        {
            commtask_omp_bind(commtask_op_recv(&in[i][0], 1, MPI_INT, left, 2 * i, comm));
#pragma omp taskyield
            commtask_omp_bind(commtask_op_recv(&in[i][1], 1, MPI_INT, left, 2 * i + 1, comm));
#pragma omp taskyield
            omp_test::compute(1000);
        }
#pragma omp task untied depend(out : out[i]) shared(out) firstprivate(i)
        {
            out[i] = i;
#pragma omp taskyield
            commtask_omp_bind(commtask_op_send(&out[i], 1, MPI_INT, right, 2 * i, comm));
            commtask_omp_bind(commtask_op_send(&out[i], 1, MPI_INT, right, 2 * i + 1, comm));
        }
#pragma omp task depend(in : in[i]) shared(in, n_right) firstprivate(i)
        n_right += in[i][0] == i && in[i][1] == i ? 1 : 0;
    }
    EXPECT_EQ(n_right, n);
}

// Receives and sends are started by one task, so that tasks which wait in place cannot wait for each other.
TEST_F(Hold, TasksThatCreateHeldTasksMayWaitForThem) {
    constexpr int n = 40;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
#pragma omp task shared(in, out, n_right) firstprivate(i)
        {
            out[i] = i;
#pragma omp task depend(out : in[i]) shared(in, out) firstprivate(i)
            { exchange(&in[i], &out[i], i); }
#pragma omp task depend(in : in[i]) shared(in, n_right) firstprivate(i)
            n_right += in[i] == i ? 1 : 0;
#pragma omp taskwait
            n_right += in[i] == i ? 1 : 0;
        }
    }
    EXPECT_EQ(n_right, 2 * n);
}

TEST_F(Hold, UndeferredAndFinalTasksWaitForTheirMessagesAtTheEndOfTheirBodies) {
    int in[3] = {-1, -1, -1};
    int out[3] = {rank, rank, rank};
#pragma omp parallel
#pragma omp single
    {
        // The receive first: were it waited for at once, nobody would send.
#pragma omp task if (0)
        exchange(in, out, 0);
        EXPECT_EQ(in[0], left);
#pragma omp task final(true)
        {
#pragma omp task shared(in, out)
            exchange(&in[1], &out[1], 1);
            EXPECT_EQ(in[1], left);
            exchange(&in[2], &out[2], 2);
        }
#pragma omp taskwait
        EXPECT_EQ(in[2], left);
    }
}

TEST_F(Hold, OutsideOfTasksTheCallItselfWaits) {
    int in = -1;
    int out = rank;
    commtask_omp_bind(commtask_op_sendrecv(&out, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, comm));
    EXPECT_EQ(in, left);
    in = -1;
#pragma omp parallel
#pragma omp master
    {
        commtask_omp_bind(commtask_op_sendrecv(&out, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, comm));
        EXPECT_EQ(in, left);
    }
}

TEST_F(Hold, ARegionInsideATaskIsNotThatTask) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task shared(sum)
        {
            int one = 1;
#pragma omp parallel num_threads(1)
            {
                commtask_omp_bind(commtask_op_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
                EXPECT_EQ(sum, n_ranks);
            }
        }
    }
}

#ifdef __clang__ // gcc's code gets no event from libomp
TEST_F(Hold, ATaskWithADetachClauseOfItsOwnHasItsEventAndItsMessages) {
    int in = 0;
    int out = 9;
    int seen = 0;
    [[maybe_unused]] char cell = 0; // only named in depend clauses
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event{};
#pragma omp task untied detach(event) depend(out : cell) shared(in, out)
        { exchange(&in, &out, 0); }
#pragma omp task depend(in : cell) shared(seen, in)
        seen = in;
        let_others_run();
        EXPECT_EQ(seen, 0);
        omp_fulfill_event(event);
#pragma omp taskwait
    }
    EXPECT_EQ(seen, 9);
}
#endif

TEST_F(Hold, PrioritiesAndLambdasAreTasksAsAnyOthers) {
    constexpr int n = 20;
    int in[n] = {};
    int out[n] = {};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
        auto communicate = [&in, &out, i, this] {
            out[i] = i;
            exchange(&in[i], &out[i], i);
        };
#pragma omp task priority(i) firstprivate(communicate) mergeable
        communicate();
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(in[i], i);
}

TEST_F(Hold, CollectivesAreInStepWhereTheirTasksAre) {
    int sum[2] = {};
    int one = 1;
    [[maybe_unused]] char order = 0; // only named in depend clauses
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : order) shared(sum, one)
        {
            commtask_omp_bind(commtask_op_allreduce(&one, &sum[0], 1, MPI_INT, MPI_SUM, comm));
            commtask_omp_bind(commtask_op_allreduce(&one, &sum[1], 1, MPI_INT, MPI_MAX, comm));
        }
#pragma omp task depend(inout : order) shared(sum)
        {
            EXPECT_EQ(sum[0], n_ranks);
            EXPECT_EQ(sum[1], 1);
            sum[0] = sum[1] = 0;
        }
    }
}

TEST_F(Hold, WaitingForAllWaitsForHeldOperations) {
    constexpr int n = 16;
    int in[n];
    std::fill_n(in, n, -1);
    int out[n] = {};
    std::fill_n(out, n, rank);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < n; ++i) {
#pragma omp task shared(in, out) firstprivate(i)
            { exchange(&in[i], &out[i], i); }
        }
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
#pragma omp taskwait
        for (int i = 0; i < n; ++i) EXPECT_EQ(in[i], left);
    }
}

// In a team of one thread libomp runs what a message released only while it waits itself.
TEST_F(Hold, WaitingForAllRunsWhatAHeldTaskReleases) {
    int sent = 5;
    int got = 0;
    int seen = 0;
    [[maybe_unused]] char cell = 0; // only named in depend clauses
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 20; ++round) {
        got = seen = 0;
#pragma omp task depend(out : got) shared(got)
        commtask_omp_bind(recv_from_myself(&got, 1));
#pragma omp task depend(in : got) depend(out : cell) shared(got, seen)
        seen = got;
        // Waited for by its number, and started only when the two are done.
        COMM_TASK(noop(comm), in(&cell));
        send_to_myself(&sent, 1);
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
        EXPECT_EQ(seen, 5);
#pragma omp taskwait
    }
}

TEST_F(Hold, ABodyMayWaitForItsChildrenAfterItStartedMessages) {
    constexpr int n = 10;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_children = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
#pragma omp task shared(in, out, n_children) firstprivate(i)
        {
            out[i] = i;
            exchange(&in[i], &out[i], i);
#pragma omp task shared(n_children)
            n_children.fetch_add(1);
#pragma omp taskwait
            EXPECT_GT(n_children, 0);
        }
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(in[i], i);
    EXPECT_EQ(n_children, n);
}

} // namespace
