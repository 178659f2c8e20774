// SPDX-License-Identifier: Apache-2.0
//
// Communication tasks that go wrong. OpenMP cannot fail a task, so what is asked for is: the event is fulfilled, the
// dependents run, nothing hangs or ends, and the error reaches the status, the handler and the record.
#include "mpi_facts.hpp"
#include "omp_fixture.hpp"

#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library_of_failures);

struct heard {
    int code;
    int kind;
    int has_status;
    bool was_posted;
    std::string sentence;
};

class Errors : public omp_test::ring {
protected:
    void SetUp() override {
        ring::SetUp();
        commtask_omp_set_error_handler(&Errors::register_callback, this);
    }
    void TearDown() override {
        commtask_omp_set_error_handler(nullptr, nullptr);
        commtask_omp_clear_errors();
    }
    static void register_callback(const commtask_omp_error* error, void* self) {
        auto& fixture = *static_cast<Errors*>(self);
        const std::scoped_lock guard(fixture.lock);
        fixture.errors.push_back(
            {error->code, error->kind, error->has_status, error->status != nullptr, error->message});
    }
    /// Runs one communication task with a dependent; whether the dependent ran before the taskgroup ended.
    template <typename Create>
    bool dependent_runs_after(Create create) {
        bool has_run = false;
        const int* const data = cell.data();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            create();
#pragma omp task depend(in : *data) shared(has_run)
            has_run = true;
        }
        return has_run;
    }

    std::mutex lock;
    std::vector<heard> errors;
    std::array<int, 4> cell{};
    commtask_status status = COMMTASK_STATUS_INIT;
};

TEST_F(Errors, OfARefusedPostReachTheStatusAndTheHandler) {
    EXPECT_TRUE(dependent_runs_after([&] {
        EXPECT_EQ(COMM_TASK(send(cell.data(), 1, MPI_INT, n_ranks + 1000, 0, comm), inout(&cell), status(&status)),
                  COMMTASK_ERR_RANK);
    }));
    EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_RANK);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, COMMTASK_ERR_RANK);
    EXPECT_EQ(errors[0].kind, COMMTASK_OP_SEND);
    EXPECT_EQ(errors[0].has_status, 1);
    EXPECT_FALSE(errors[0].was_posted);
    EXPECT_NE(errors[0].sentence.find("send"), std::string::npos) << errors[0].sentence;
}

TEST_F(Errors, OfEveryWrongArgumentLetTheDependentsRun) {
    int* const nothing = nullptr;
    EXPECT_TRUE(dependent_runs_after([&] { COMM_TASK(send(cell.data(), 1, MPI_INT, 0, -5, comm), inout(&cell)); }));
    EXPECT_TRUE(dependent_runs_after([&] { COMM_TASK(recv(cell.data(), -1, MPI_INT, 0, 0, comm), inout(&cell)); }));
    EXPECT_TRUE(dependent_runs_after([&] { COMM_TASK(recv(nothing, 1, MPI_INT, 0, 0, comm), inout(&cell)); }));
    EXPECT_TRUE(
        dependent_runs_after([&] { COMM_TASK(recv(cell.data(), 1, MPI_DATATYPE_NULL, 0, 0, comm), inout(&cell)); }));
    EXPECT_TRUE(
        dependent_runs_after([&] { COMM_TASK(send(cell.data(), 1, MPI_INT, 0, 0, MPI_COMM_NULL), inout(&cell)); }));
    ASSERT_EQ(errors.size(), 5U);
    const std::array expected{COMMTASK_ERR_TAG, COMMTASK_ERR_COUNT, COMMTASK_ERR_BUFFER, COMMTASK_ERR_TYPE,
                              COMMTASK_ERR_COMM};
    for (std::size_t i = 0; i < errors.size(); ++i) {
        EXPECT_EQ(errors[i].code, expected[i]) << errors[i].sentence;
        EXPECT_EQ(errors[i].has_status, 0);
    }
    EXPECT_EQ(commtask_omp_error_count(), 5U);
    std::array<char, 200> text{};
    EXPECT_EQ(commtask_omp_first_error(text.data(), text.size()), COMMTASK_ERR_TAG);
    EXPECT_EQ(text.data(), errors[0].sentence);
}

TEST_F(Errors, OfAnOperationThatFailsAtMpiAreInTheStatusBeforeTheDependentRuns) {
    if (!commtask::test::sees_truncation(n_ranks)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    commtask_state seen = COMMTASK_STATE_OPEN;
    const std::array<int, 4> much{1, 2, 3, 4};
    const int* const data = cell.data();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(recv(cell.data(), 1, MPI_INT, left, 0, comm), out(&cell), status(&status));
#pragma omp task depend(in : *data) shared(seen)
        seen = status.state;
        COMM_TASK(send(much.data(), 4, MPI_INT, right, 0, comm), in(&much));
    }
    EXPECT_EQ(seen, COMMTASK_STATE_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
    ASSERT_GE(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, COMMTASK_FAILED);
    EXPECT_EQ(errors[0].kind, COMMTASK_OP_RECV);
    EXPECT_TRUE(errors[0].was_posted);
    EXPECT_NE(errors[0].sentence.find(": recv of 1 MPI_INT from rank " + std::to_string(left) +
                                      ", tag 0, MPI_COMM_WORLD, created at errors_test.cpp:"),
              std::string::npos)
        << errors[0].sentence;
    EXPECT_NE(errors[0].sentence.find("failed: it has room for 4 bytes and got "), std::string::npos)
        << errors[0].sentence;
}

TEST_F(Errors, OfACollectiveThatWasRefusedDoNotHoldUpTheNextOne) {
    int sum = 0;
    int one = 1;
    EXPECT_TRUE(dependent_runs_after([&] {
        COMM_TASK(bcast(cell.data(), 1, MPI_INT, -7, comm), inout(&cell));
        COMM_TASK(allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), in(&one), out(&sum));
    }));
    EXPECT_EQ(sum, n_ranks);
    EXPECT_EQ(errors.size(), 1U);
}

TEST_F(Errors, OfANullOperationAreReturned) {
    EXPECT_EQ(commtask_omp_spawn(nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::strstr(commtask_omp_last_error(), "null"), nullptr);
    const commtask_op operation = commtask_op_noop(comm);
    EXPECT_EQ(commtask_omp_spawn(&operation, nullptr, 2, nullptr, 0, nullptr, 0, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(errors.size(), 2U);
}

TEST_F(Errors, OfATaskWithoutAnEventAreReturned) {
    const commtask_op operation = commtask_op_noop(comm);
    EXPECT_EQ(commtask_omp_start(&operation, nullptr, omp_event_handle_t{}), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::strstr(commtask_omp_last_error(), "detach"), nullptr);
}

TEST_F(Errors, ArePrintedUpToTenWhereNobodyLooks) {
    commtask_omp_set_error_handler(nullptr, nullptr);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 12; ++i) {
        EXPECT_TRUE(dependent_runs_after([&] { COMM_TASK(send(cell.data(), 1, MPI_INT, 0, -5, comm), inout(&cell)); }));
    }
    const std::string printed = testing::internal::GetCapturedStderr();
    const std::string first =
        "commtask: rank " + std::to_string(rank) + ": send of 1 MPI_INT to rank 0, tag -5, MPI_COMM_WORLD was";
    std::size_t n_printed = 0;
    for (auto at = printed.find(first); at != std::string::npos; at = printed.find(first, at + 1)) ++n_printed;
    EXPECT_EQ(n_printed, 10U) << printed;
    EXPECT_EQ(commtask_omp_error_count(), 12U);
}

TEST_F(Errors, NameTheRankTheOperationAndTheLine) {
    const int line = __LINE__ + 1;
    EXPECT_NE(COMM_TASK(allreduce(&cell, &cell, -1, MPI_INT, MPI_SUM, comm)), COMMTASK_OK);
    const std::string sentence = commtask_omp_last_error();
    EXPECT_EQ(sentence.find("commtask: rank " + std::to_string(rank) + ": allreduce"), 0U) << sentence;
    EXPECT_NE(sentence.find("MPI_COMM_WORLD was refused: "), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("errors_test.cpp:" + std::to_string(line) + ")"), std::string::npos) << sentence;
}

TEST_F(Errors, OfACanceledTaskgroupAreNone) {
    if (omp_get_cancellation() == 0) GTEST_SKIP() << "needs OMP_CANCELLATION=true";
    int never = 0;
    int gate = 0;
    int one = 1;
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task depend(out : gate) shared(gate)
            {
                omp_test::compute(20000);
#pragma omp cancel taskgroup
            }
            COMM_TASK(allreduce(&one, &never, 1, MPI_INT, MPI_SUM, comm), in(&gate), out(&never), status(&status));
            COMM_TASK(barrier(comm), in(&never));
        }
        // Its place in the order was given up: this one does not wait for it.
#pragma omp taskgroup
        COMM_TASK(allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), in(&one), out(&sum));
    }
    EXPECT_EQ(sum, n_ranks);
    EXPECT_EQ(never, 0);
    EXPECT_EQ(status.state, COMMTASK_STATE_CANCELED);
    EXPECT_TRUE(errors.empty());
}

} // namespace
