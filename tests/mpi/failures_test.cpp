// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.errors: operations that MPI fails after they were posted. The error ends its own task with code and class,
// its successors are canceled and never start (or run, where asked for), unrelated tasks go on, whatever error handler
// the program had set; and the handler still serves the program's own calls. The scenario fatal_handler has the rest.
#include "mpi_facts.hpp"
#include "runtime_test.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace commtask::test {
namespace {

class Failures : public Runtime {
protected:
    void expect_truncation(int sent_count) {
        if (!sees_truncation(n_ranks_)) return;
        const std::vector<int> sent = values_of(rank_, sent_count);
        std::vector<int> received(static_cast<std::size_t>(sent_count) / 2);
        commtask_t receive = post(commtask_op_recv(received.data(), sent_count / 2, MPI_INT, left(), 0, comm_));
        commtask_t send = post(commtask_op_send(sent.data(), sent_count, MPI_INT, right(), 0, comm_));
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(receive, &status), COMMTASK_FAILED);
        EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
        EXPECT_NE(status.error, MPI_SUCCESS);
        EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
        const int code = finish(send); // MPI may tell the sender too
        EXPECT_TRUE(code == COMMTASK_OK || code == COMMTASK_FAILED) << code;
    }
};

TEST_F(Failures, ATruncatedMessageFailsTheReceiveWithItsClass) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    expect_truncation(10);
    expect_truncation(500'000); // not eager
    run(commtask_op_barrier(comm_));
}

int count_up(void* argument) {
    static_cast<std::atomic<int>*>(argument)->fetch_add(1);
    return MPI_SUCCESS;
}
int fail_with_a_class(void* /*argument*/) { return MPI_ERR_OTHER; }
int fail_to_start(MPI_Request* request, void* /*argument*/) {
    *request = MPI_REQUEST_NULL;
    return MPI_ERR_ARG;
}

TEST_F(Failures, SuccessorsAreCanceledAndNeverStart) {
    std::atomic<int> n_started{0};
    event gate;
    options held;
    commtask_t failing = post(commtask_op_call(fail_with_a_class, nullptr, comm_), held.on({gate.get()}));
    options after_failure;
    commtask_t child = post(commtask_op_call(count_up, &n_started, comm_), after_failure.after({failing}));
    options after_child;
    commtask_t grandchild = post(commtask_op_call(count_up, &n_started, comm_), after_child.after({child}));
    options anyway;
    commtask_t survivor = post(commtask_op_call(count_up, &n_started, comm_),
                               anyway.after({grandchild}).flags(COMMTASK_RUN_AFTER_FAILURE));
    commtask_t unrelated = post(commtask_op_call(count_up, &n_started, comm_));
    EXPECT_EQ(finish(unrelated), COMMTASK_OK);
    EXPECT_EQ(n_started, 1);
    gate.signal();

    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(failing, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_OTHER);
    EXPECT_EQ(finish(child, &status), COMMTASK_CANCELED);
    EXPECT_EQ(status.state, COMMTASK_STATE_CANCELED);
    EXPECT_EQ(status.error, MPI_SUCCESS) << "only a failed task has an error of its own";
    EXPECT_EQ(finish(grandchild), COMMTASK_CANCELED);
    EXPECT_EQ(finish(survivor), COMMTASK_OK);
    EXPECT_EQ(n_started, 2);
}

TEST_F(Failures, ASuccessorPostedAfterTheFailureIsCanceledToo) {
    commtask_t failing = post(commtask_op_call(fail_with_a_class, nullptr, comm_));
    while (commtask_wait_for(&failing, 0, nullptr) == COMMTASK_TIMEOUT) {}
    failing = post(commtask_op_call(fail_with_a_class, nullptr, comm_));
    std::atomic<int> n_started{0};
    commtask_t noop = post(commtask_op_noop(comm_)); // ends after the failing call, which was posted before it
    EXPECT_EQ(finish(noop), COMMTASK_OK);
    options how;
    commtask_t late = post(commtask_op_call(count_up, &n_started, comm_), how.after({failing}));
    EXPECT_EQ(finish(late), COMMTASK_CANCELED);
    EXPECT_EQ(n_started, 0);
    EXPECT_EQ(finish(failing), COMMTASK_FAILED);
}

TEST_F(Failures, ASuccessorOfSeveralIsCanceledOnceAllHaveEnded) {
    event gate;
    options held;
    commtask_t good = post(commtask_op_noop(comm_), held.on({gate.get()}));
    commtask_t failing = post(commtask_op_start(fail_to_start, nullptr, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    options how;
    commtask_t successor = post(commtask_op_noop(comm_), how.after({good, failing}));
    EXPECT_EQ(finish(failing, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_ARG);
    gate.signal();
    EXPECT_EQ(finish(good), COMMTASK_OK);
    EXPECT_EQ(finish(successor), COMMTASK_CANCELED);
}

struct ending {
    std::atomic<int> n_calls{0};
    std::atomic<int> state{-1};
};
void note_ending(const commtask_status* status, void* argument) {
    auto* const noted = static_cast<ending*>(argument);
    noted->state = status->state;
    noted->n_calls.fetch_add(1);
}

TEST_F(Failures, CallbacksAndStatusesLearnOfFailureAndCancellation) {
    ending of_failed;
    ending of_canceled;
    commtask_status failed_status = COMMTASK_STATUS_INIT;
    commtask_status canceled_status = COMMTASK_STATUS_INIT;
    options first;
    commtask_t failing = post(commtask_op_call(fail_with_a_class, nullptr, comm_),
                              first.call(note_ending, &of_failed).report_to(failed_status));
    options second;
    commtask_t canceled = post(commtask_op_noop(comm_),
                               second.after({failing}).call(note_ending, &of_canceled).report_to(canceled_status));
    EXPECT_EQ(finish(canceled), COMMTASK_CANCELED);
    EXPECT_EQ(finish(failing), COMMTASK_FAILED);
    run(commtask_op_noop(comm_)); // the callbacks have returned
    EXPECT_EQ(of_failed.n_calls, 1);
    EXPECT_EQ(of_failed.state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(of_canceled.n_calls, 1);
    EXPECT_EQ(of_canceled.state, COMMTASK_STATE_CANCELED);
    EXPECT_EQ(failed_status.error_class, MPI_ERR_OTHER);
    EXPECT_EQ(canceled_status.state, COMMTASK_STATE_CANCELED);
}

TEST_F(Failures, AnOrderedTaskThatIsCanceledGivesItsPlaceUp) {
    commtask_t failing = post(commtask_op_call(fail_with_a_class, nullptr, comm_));
    options how;
    commtask_t canceled = post(commtask_op_barrier(comm_), how.after({failing}));
    commtask_t barrier = post(commtask_op_barrier(comm_));
    EXPECT_EQ(finish(canceled), COMMTASK_CANCELED);
    EXPECT_EQ(finish(barrier), COMMTASK_OK);
    EXPECT_EQ(finish(failing), COMMTASK_FAILED);
}

TEST_F(Failures, ATaskThatWaitsForItsPlaceIsCanceledWithoutIt) {
    commtask_ticket earlier{};
    const commtask_op barrier = commtask_op_barrier(comm_);
    ASSERT_EQ(commtask_ticket_take(&barrier, &earlier), COMMTASK_OK);
    commtask_t waiting = post(barrier);
    run(commtask_op_noop(comm_)); // the worker has seen what was posted before
    EXPECT_EQ(commtask_cancel(waiting), COMMTASK_OK);
    EXPECT_EQ(commtask_cancel(waiting), COMMTASK_OK);
    EXPECT_EQ(finish(waiting), COMMTASK_CANCELED);
    options how;
    run(barrier, how.at(earlier).get());
    run(barrier);
}

TEST_F(Failures, OneBadMessageAmongManyFailsAlone) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    constexpr std::size_t n_messages = 200;
    std::vector<std::array<int, 2>> received(n_messages);
    const std::array<int, 2> sent{1, 2};
    std::vector<commtask_t> receives;
    for (std::size_t i = 0; i < n_messages; ++i) {
        const int room = i % 10 == 3 ? 1 : 2;
        receives.push_back(
            post(commtask_op_recv(received[i].data(), room, MPI_INT, left(), static_cast<int>(i), comm_)));
    }
    std::vector<commtask_t> sends;
    for (std::size_t i = n_messages; i-- > 0;) {
        sends.push_back(post(commtask_op_send(sent.data(), 2, MPI_INT, right(), static_cast<int>(i), comm_)));
    }
    for (std::size_t i = 0; i < n_messages; ++i) {
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(receives[i], &status), i % 10 == 3 ? COMMTASK_FAILED : COMMTASK_OK) << i;
        EXPECT_EQ(status.error_class, i % 10 == 3 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << i;
        if (i % 10 != 3) {
            EXPECT_EQ(received[i], sent);
        }
    }
    commtask_wait_all_for(sends.size(), sends.data(), limit_ns, nullptr);
}

std::atomic<int> n_handler_calls{0};
void count_handler_call(MPI_Comm* /*comm*/, int* /*code*/, ...) { n_handler_calls.fetch_add(1); }

// A function of the program may be called for a task's error too, on the worker; whether it is depends on the MPI. The
// code comes back all the same, and the program's own calls reach it exactly once.
TEST_F(Failures, AHandlerFunctionSetAfterTheFirstTaskServesTheProgramsCalls) {
    MPI_Errhandler mine = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_handler_call, &mine);
    int value = 0;
    ASSERT_EQ(commtask_comm_register(comm_), COMMTASK_OK);
    MPI_Comm_set_errhandler(comm_, mine);
    for (int i = 0; i < 3; ++i) {
        n_handler_calls = 0;
        const int code = MPI_Send(&value, 1, MPI_INT, n_ranks_, 0, comm_);
        EXPECT_TRUE(code != MPI_SUCCESS || !returns_codes_after_functions());
        EXPECT_EQ(n_handler_calls, 1);
        expect_truncation(10);
    }
    MPI_Errhandler_free(&mine);
}

TEST_F(Failures, AHandlerFunctionSetBeforeTheFirstTaskServesTheProgramsCalls) {
    MPI_Errhandler mine = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_handler_call, &mine);
    int value = 0;
    MPI_Comm_set_errhandler(comm_, mine);
    for (int i = 0; i < 3; ++i) {
        expect_truncation(10);
        n_handler_calls = 0;
        const int code = MPI_Send(&value, 1, MPI_INT, n_ranks_, 0, comm_);
        EXPECT_TRUE(code != MPI_SUCCESS || !returns_codes_after_functions());
        EXPECT_EQ(n_handler_calls, 1);
    }
    MPI_Errhandler_free(&mine);
}

TEST_F(Failures, ErrorsReturnStaysAsTheUserSetIt) {
    int value = 0;
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    expect_truncation(10);
    EXPECT_NE(MPI_Send(&value, 1, MPI_INT, n_ranks_, 0, comm_), MPI_SUCCESS);
    expect_truncation(10);
}

TEST_F(Failures, AFatalHandlerDoesNotMakeTasksFatal) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
    expect_truncation(10);
    expect_truncation(500'000);
}

/// Not a Runtime: what is there before and after the library.
TEST(ErrorHandlers, AreAsTheProgramLeftThemWhenTheLibraryHasEnded) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Errhandler mine = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_handler_call, &mine);
    MPI_Errhandler world_before = MPI_ERRHANDLER_NULL;
    MPI_Errhandler world_after = MPI_ERRHANDLER_NULL;
    MPI_Errhandler comm_after = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world_before);
    MPI_Comm_set_errhandler(comm, mine);
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK);
    run(commtask_op_barrier(comm));
    EXPECT_EQ(commtask_finalize(), COMMTASK_OK);
    MPI_Comm_get_errhandler(comm, &comm_after);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world_after);
    EXPECT_EQ(comm_after, mine);
    EXPECT_EQ(world_after, world_before);
    MPI_Errhandler_free(&comm_after);
    MPI_Errhandler_free(&world_after);
    MPI_Errhandler_free(&world_before);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&comm);
}

} // namespace
} // namespace commtask::test
