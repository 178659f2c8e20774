// SPDX-License-Identifier: Apache-2.0
//
// The bridge for those who write depend and detach clauses themselves, as the comm clause does: prepared where the task
// is created, started in its body. Only clang hands libomp's event to such a task, so only clang compiles this file.
#include "omp_fixture.hpp"

#include <array>
#include <string>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class Detach : public omp_test::ring {};

TEST_F(Detach, TasksStandBetweenTheirPredecessorsAndDependents) {
    constexpr int n = 50;
    int in[n] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
    int n_seen = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < n; ++i) {
            omp_event_handle_t event{};
            const commtask_omp_task receive =
                commtask_omp_prepare(commtask_op_recv(&in[i], 1, MPI_INT, left, i, comm), COMMTASK_NONE, nullptr);
#pragma omp task untied detach(event) depend(out : in[i]) firstprivate(receive)
            commtask_omp_start_prepared(&receive, event);
#pragma omp task depend(in : in[i]) firstprivate(i) shared(in, n_right)
            n_right.fetch_add(in[i] == i ? 1 : 0);
#pragma omp task depend(out : out[i]) firstprivate(i) shared(out)
            out[i] = i;
#pragma omp task untied detach(event) depend(in : out[i]) firstprivate(i) shared(out)
            {
                const commtask_op send = commtask_op_send(&out[i], 1, MPI_INT, right, i, comm);
                commtask_omp_start(&send, nullptr, event);
            }
        }
#pragma omp taskwait
        n_seen = n_right;
    }
    EXPECT_EQ(n_seen, n);
}

TEST_F(Detach, CollectivesTakeTheirPlaceWhereTheyArePrepared) {
    for (int round = 0; round < 10; ++round) {
        int value[2] = {1 + round, 100 + round};
        int sum[2] = {};
        int gate = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            // They become ready in opposite orders on even and odd ranks.
            const int late = (rank + round) % 2;
#pragma omp task depend(out : value[1 - late]) depend(inout : gate)
            omp_test::compute(10);
#pragma omp task depend(out : value[late]) depend(inout : gate)
            omp_test::compute(20000);
            for (int i = 0; i < 2; ++i) {
                omp_event_handle_t event{};
                const commtask_omp_task reduce = commtask_omp_prepare(
                    commtask_op_allreduce(&value[i], &sum[i], 1, MPI_INT, MPI_SUM, comm), COMMTASK_NONE, nullptr);
#pragma omp task untied detach(event) depend(in : value[i]) depend(out : sum[i]) firstprivate(reduce)
                commtask_omp_start_prepared(&reduce, event);
            }
        }
        ASSERT_EQ(sum[0], n_ranks * (1 + round));
        ASSERT_EQ(sum[1], n_ranks * (100 + round));
    }
}

TEST_F(Detach, AnEventMayBeFulfilledBeforeItsBodyEnds) {
    std::atomic<int> n_called = 0;
    std::atomic<int> n_run = 0;
    constexpr int n = 50;
    char cell[n] = {};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
        omp_event_handle_t event{};
#pragma omp task untied detach(event) depend(out : cell[i]) shared(n_called)
        {
            const int before = n_called;
            const commtask_op call = commtask_op_call(omp_test::count_call, &n_called, comm);
            commtask_omp_start(&call, nullptr, event);
            while (n_called == before) {}
            omp_test::compute(20000);
        }
#pragma omp task depend(in : cell[i]) shared(n_run)
        n_run.fetch_add(1);
    }
    EXPECT_EQ(n_called, n);
    EXPECT_EQ(n_run, n);
}

TEST_F(Detach, APlaceThatWasDroppedHoldsNobodyUp) {
    int one = 1;
    int sum = 0;
    const commtask_omp_task never = commtask_omp_prepare(commtask_op_barrier(comm), COMMTASK_NONE, nullptr);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), in(&one), out(&sum));
        EXPECT_EQ(commtask_omp_drop(&never), COMMTASK_OK);
    }
    EXPECT_EQ(sum, n_ranks);
}

TEST_F(Detach, APlaceThatWasRefusedIsNotMadeUpForLater) {
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
    commtask_status status = COMMTASK_STATUS_INIT;
    const commtask_omp_task early = commtask_omp_prepare(commtask_op_barrier(comm), COMMTASK_NONE, &status);
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK);
    int code = COMMTASK_OK;
    std::string why;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        omp_event_handle_t event{};
#pragma omp task untied detach(event) firstprivate(early) shared(code, why)
        {
            code = commtask_omp_start_prepared(&early, event);
            why = commtask_omp_last_error();
        }
    }
    EXPECT_EQ(code, COMMTASK_ERR_NOT_INITIALIZED);
    EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
    EXPECT_NE(why.find("no longer exists"), std::string::npos) << why;
    commtask_omp_clear_errors();
}

TEST_F(Detach, TasksWithAStatusOfNoSizeAreRefusedAndHoldNobodyUp) {
    commtask_status unsized{};
    int one = 1;
    int sum = 0;
    int code = COMMTASK_OK;
    testing::internal::CaptureStderr();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        omp_event_handle_t event{};
        const commtask_omp_task refused = commtask_omp_prepare(commtask_op_barrier(comm), COMMTASK_NONE, &unsized);
#pragma omp task untied detach(event) firstprivate(refused) shared(code)
        code = commtask_omp_start_prepared(&refused, event);
        COMM_TASK(allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), in(&one), out(&sum));
    }
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(printed.find("COMMTASK_STATUS_INIT"), std::string::npos) << printed;
    EXPECT_EQ(unsized.state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(sum, n_ranks);
    commtask_omp_clear_errors();
}

} // namespace
