// SPDX-License-Identifier: Apache-2.0
//
// Held tasks of which something goes wrong, and requests that the program started itself. As everywhere in OpenMP dependents
// run all the same; the error must reach the status, the handler and the caller.
#include "mpi_facts.hpp"
#include "omp_fixture.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class HoldErrors : public omp_test::ring {
protected:
    void SetUp() override {
        ring::SetUp();
        commtask_omp_set_error_handler(&HoldErrors::register_callback, this);
    }
    void TearDown() override {
        commtask_omp_set_error_handler(nullptr, nullptr);
        commtask_omp_clear_errors();
    }
    static void register_callback(const commtask_omp_error* error, void* self) {
        auto& fixture = *static_cast<HoldErrors*>(self);
        const std::scoped_lock guard(fixture.lock);
        fixture.codes.push_back(error->code);
        fixture.sentences += error->message;
    }
    /// Runs `body` in a task; whether its dependent ran before the taskgroup ended.
    template <typename Body>
    bool dependent_runs_after(Body body) {
        bool has_run = false;
        [[maybe_unused]] char cell = 0; // only named in depend clauses
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task depend(out : cell) shared(body)
            body();
#pragma omp task depend(in : cell) shared(has_run)
            has_run = true;
        }
        return has_run;
    }
    [[nodiscard]] static commtask_omp_options with(commtask_status* status) {
        commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
        options.status = status;
        return options;
    }

    std::mutex lock;
    std::vector<int> codes;
    std::string sentences;
    commtask_status status = COMMTASK_STATUS_INIT;
};

TEST_F(HoldErrors, ARefusedOperationDoesNotHoldItsTask) {
    int data = 0;
    int code = COMMTASK_OK;
    EXPECT_TRUE(dependent_runs_after([&] {
        const commtask_op send = commtask_op_send(&data, 1, MPI_INT, n_ranks + 1000, 0, comm);
        const commtask_omp_options options = with(&status);
        code = commtask_omp_bind_operation(&send, &options);
    }));
    EXPECT_EQ(code, COMMTASK_ERR_RANK);
    EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_RANK);
    EXPECT_EQ(codes, std::vector{static_cast<int>(COMMTASK_ERR_RANK)});
    EXPECT_NE(sentences.find(": send of 1 MPI_INT to rank "), std::string::npos) << sentences;
}

TEST_F(HoldErrors, AnOperationThatMpiFailsIsToldByItsStatusBeforeTheDependentsRun) {
    if (!commtask::test::sees_truncation(n_ranks)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    int sent[2] = {1, 2};
    int got = 0;
    int state_seen = -1;
    [[maybe_unused]] char cell = 0; // only named in depend clauses
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : cell) shared(sent, got)
        {
            const commtask_op recv = commtask_op_recv(&got, 1, MPI_INT, left, 0, comm); // too short
            const commtask_omp_options options = with(&status);
            commtask_omp_bind_operation(&recv, &options);
            commtask_omp_bind(commtask_op_send(sent, 2, MPI_INT, right, 0, comm));
        }
#pragma omp task depend(in : cell) shared(state_seen)
        state_seen = status.state;
    }
    EXPECT_EQ(state_seen, COMMTASK_STATE_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
    EXPECT_EQ(codes, std::vector{static_cast<int>(COMMTASK_FAILED)});
}

TEST_F(HoldErrors, WrongArgumentsAreNamed) {
    commtask_status unsized{};
    const commtask_op barrier = commtask_op_barrier(comm);
    EXPECT_TRUE(dependent_runs_after([&] {
        EXPECT_EQ(commtask_omp_bind_operation(nullptr, nullptr), COMMTASK_ERR_ARGUMENT);
        const commtask_omp_options options = with(&unsized);
        EXPECT_EQ(commtask_omp_bind_operation(&barrier, &options), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(commtask_omp_bind_requests(3, nullptr), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(commtask_omp_bind_requests(0, nullptr), COMMTASK_OK);
    }));
    EXPECT_EQ(codes.size(), 3U);
    EXPECT_NE(sentences.find("the operation is null"), std::string::npos) << sentences;
    EXPECT_NE(sentences.find("COMMTASK_STATUS_INIT"), std::string::npos) << sentences;
    EXPECT_NE(sentences.find("requests is null"), std::string::npos) << sentences;
}

TEST_F(HoldErrors, ACallbackOutsideOfTasksHasNothingToHold) {
    int code = COMMTASK_OK;
    struct place {
        MPI_Comm comm;
        int* code;
    } here{comm, &code};
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.callback = [](const commtask_status*, void* argument) {
        const auto& at = *static_cast<place*>(argument);
        *at.code = commtask_omp_bind(commtask_op_noop(at.comm));
    };
    options.callback_argument = &here;
    commtask_t task = COMMTASK_NULL;
    ASSERT_EQ(commtask_post(commtask_op_noop(comm), &options, &task), COMMTASK_OK);
    ASSERT_EQ(commtask_wait(&task, nullptr), COMMTASK_OK);
    EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
}

TEST_F(HoldErrors, ATicketTakenWhenTheTaskIsCreatedIsUsed) {
    int one = 1;
    int sum[2] = {};
    [[maybe_unused]] char cell = 0; // only named in depend clauses
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 2; ++i) {
        const commtask_op reduce = commtask_op_allreduce(&one, &sum[i], 1, MPI_INT, MPI_SUM, comm);
        commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
        EXPECT_EQ(commtask_ticket_take(&reduce, &options.ticket), COMMTASK_OK);
        // Ready in another order on every other rank.
        if (i == rank % 2) {
#pragma omp task depend(out : cell)
            omp_test::compute(20000);
        }
#pragma omp task depend(in : cell) firstprivate(reduce, options)
        EXPECT_EQ(commtask_omp_bind_operation(&reduce, &options), COMMTASK_OK);
    }
    EXPECT_EQ(sum[0], n_ranks);
    EXPECT_EQ(sum[1], n_ranks);
}

class HoldRequests : public omp_test::ring {};

TEST_F(HoldRequests, OfTheProgramHoldTheTaskThatHandsThemOver) {
    constexpr int n = 20;
    int in[n][2] = {};
    int out[n] = {};
    std::atomic<int> n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(out : in[i]) shared(in) firstprivate(i)
        {
            MPI_Request requests[3];
            MPI_Irecv(&in[i][0], 1, MPI_INT, left, 2 * i, comm, &requests[0]);
            requests[1] = MPI_REQUEST_NULL;
            MPI_Irecv(&in[i][1], 1, MPI_INT, left, 2 * i + 1, comm, &requests[2]);
            EXPECT_EQ(commtask_omp_bind_requests(3, requests), COMMTASK_OK);
            for (const MPI_Request request : requests) EXPECT_EQ(request, MPI_REQUEST_NULL);
        }
#pragma omp task depend(out : out[i]) shared(out) firstprivate(i)
        {
            out[i] = i;
            MPI_Request request{};
            MPI_Issend(&out[i], 1, MPI_INT, right, 2 * i, comm, &request);
            EXPECT_EQ(commtask_omp_bind_request(&request), COMMTASK_OK);
            MPI_Isend(&out[i], 1, MPI_INT, right, 2 * i + 1, comm, &request);
            EXPECT_EQ(commtask_omp_bind_request(&request), COMMTASK_OK);
        }
#pragma omp task depend(in : in[i]) shared(in, n_right) firstprivate(i)
        n_right += in[i][0] == i && in[i][1] == i ? 1 : 0;
    }
    EXPECT_EQ(n_right, n);
}

TEST_F(HoldRequests, OutsideOfTasksAreAllWaitedForTogether) {
    int in = -1;
    int out = rank;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, left, 0, comm, &requests[0]);
    MPI_Issend(&out, 1, MPI_INT, right, 0, comm, &requests[1]);
    EXPECT_EQ(commtask_omp_bind_requests(2, requests), COMMTASK_OK);
    EXPECT_EQ(in, left);
}

TEST_F(HoldRequests, HaveAStatusWhereTheyAreAttached) {
    int in = 0;
    int out = rank;
    commtask_status came = COMMTASK_STATUS_INIT;
    MPI_Status of_mpi{};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : came) shared(in, out, came, of_mpi)
        {
            MPI_Request request{};
            MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
            commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
            options.status = &came;
            options.mpi_status = &of_mpi;
            const commtask_op attach = commtask_op_attach(&request, comm);
            EXPECT_EQ(commtask_omp_bind_operation(&attach, &options), COMMTASK_OK);
            commtask_omp_bind(commtask_op_send(&out, 1, MPI_INT, right, 3, comm));
        }
#pragma omp task depend(in : came) shared(came, of_mpi)
        {
            EXPECT_EQ(came.source, left);
            EXPECT_EQ(came.tag, 3);
            EXPECT_EQ(came.bytes, sizeof(int));
            EXPECT_EQ(of_mpi.MPI_SOURCE, left);
            EXPECT_EQ(of_mpi.MPI_ERROR, MPI_SUCCESS);
        }
    }
}

} // namespace
