// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.errors: errors that MPI tells by its handler, its request or its status only. MPICH from 4.3 on returns
// MPI_SUCCESS from a call whose error handler is a function, and the library's own handler is one; what failed must fail
// its task all the same, with its class where the handler was the library's, and what went well must not.
#include "mpi_facts.hpp"
#include "runtime_test.hpp"

#include <array>
#include <cstring>

namespace commtask::test {
namespace {

void ignore_error(MPI_Comm* /*comm*/, int* /*code*/, ...) {}

/// A handler that the program made.
class own_handler {
public:
    own_handler() { MPI_Comm_create_errhandler(ignore_error, &handle_); }
    ~own_handler() { MPI_Errhandler_free(&handle_); }
    own_handler(const own_handler&) = delete;
    own_handler& operator=(const own_handler&) = delete;
    void set_on(MPI_Comm comm) const { MPI_Comm_set_errhandler(comm, handle_); }

private:
    MPI_Errhandler handle_ = MPI_ERRHANDLER_NULL;
};

class LostCodes : public Runtime {
protected:
    void SetUp() override {
        Runtime::SetUp();
        MPI_Type_contiguous(2, MPI_INT, &uncommitted_);
    }
    void TearDown() override {
        MPI_Type_free(&uncommitted_);
        Runtime::TearDown();
    }

    /// @return the class of the error, which is checked to be one.
    int class_of_failure(const commtask_op& operation) {
        commtask_t task = post(operation);
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(task, &status), COMMTASK_FAILED);
        EXPECT_NE(status.error, MPI_SUCCESS);
        return status.error_class;
    }

    void expect_that_all_is_well() {
        for (int i = 0; i < 10; ++i) {
            int sum = 0;
            run(commtask_op_allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, comm_));
            EXPECT_EQ(sum, n_ranks_ * (n_ranks_ - 1) / 2);
            int from_left = -1;
            run(commtask_op_sendrecv(&rank_, 1, MPI_INT, right(), 3, &from_left, 1, MPI_INT, left(), 3, comm_));
            EXPECT_EQ(from_left, left());
        }
    }

    MPI_Datatype uncommitted_ = MPI_DATATYPE_NULL;
    std::array<int, 4> values_{};
};

TEST_F(LostCodes, WhatMpiRefusesAtTheCallFailsItsTaskWithItsClass) {
    EXPECT_EQ(class_of_failure(commtask_op_send(values_.data(), 1, uncommitted_, right(), 0, comm_)), MPI_ERR_TYPE);
    EXPECT_EQ(class_of_failure(commtask_op_ssend(values_.data(), 1, uncommitted_, right(), 0, comm_)), MPI_ERR_TYPE);
    EXPECT_EQ(class_of_failure(commtask_op_recv(values_.data(), 1, uncommitted_, left(), 0, comm_)), MPI_ERR_TYPE);
    EXPECT_EQ(class_of_failure(commtask_op_bcast(values_.data(), 1, uncommitted_, 0, comm_)), MPI_ERR_TYPE);
    std::array<float, 2> numbers{};
    EXPECT_EQ(class_of_failure(commtask_op_allreduce(numbers.data(), &numbers[1], 1, MPI_FLOAT, MPI_BAND, comm_)),
              MPI_ERR_OP);
    expect_that_all_is_well();
}

TEST_F(LostCodes, ASendrecvWhoseSendIsRefusedWithdrawsItsReceive) {
    EXPECT_EQ(class_of_failure(commtask_op_sendrecv(values_.data(), 1, uncommitted_, right(), 0, &values_[2], 1,
                                                    MPI_INT, left(), 0, comm_)),
              MPI_ERR_TYPE);
    expect_that_all_is_well();
}

int send_the_uncommitted(MPI_Request* request, void* type) {
    static const int value = 0;
    return MPI_Isend(&value, 1, *static_cast<MPI_Datatype*>(type), 0, 0, MPI_COMM_WORLD, request);
}
int ask_for_an_unknown_attribute(void* /*argument*/) {
    return MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, nullptr);
}

TEST_F(LostCodes, AFunctionThatReturnsWhatMpiReturnedFailsItsTask) {
    EXPECT_EQ(class_of_failure(commtask_op_start(send_the_uncommitted, &uncommitted_, comm_)), MPI_ERR_TYPE);
    class_of_failure(commtask_op_call(ask_for_an_unknown_attribute, nullptr, comm_));
    expect_that_all_is_well();
}

TEST_F(LostCodes, WhatMpiRefusesFailsItsTaskUnderAHandlerOfTheProgramsToo) {
    const own_handler handler;
    handler.set_on(comm_);
    class_of_failure(commtask_op_send(values_.data(), 1, uncommitted_, right(), 0, comm_));
    class_of_failure(commtask_op_bcast(values_.data(), 1, uncommitted_, 0, comm_));
    class_of_failure(commtask_op_sendrecv(values_.data(), 1, MPI_INT, MPI_PROC_NULL, 0, &values_[2], 1, uncommitted_,
                                          left(), 0, comm_));
    expect_that_all_is_well();
}

TEST_F(LostCodes, ATruncatedMessageFailsItsReceiveWhoeverHandlesTheErrorsOfTheProcess) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    const own_handler handler;
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        MPI_Errhandler before = MPI_ERRHANDLER_NULL;
        MPI_Comm_get_errhandler(comm, &before);
        handler.set_on(comm);
        commtask_t receive = post(commtask_op_recv(values_.data(), 1, MPI_INT, left(), 0, comm_));
        commtask_t send = post(commtask_op_send(&values_[1], 3, MPI_INT, right(), 0, comm_));
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(receive, &status), COMMTASK_FAILED);
        EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
        finish(send); // MPI may tell the sender too
        expect_that_all_is_well();
        // Of MPI_COMM_SELF a fatal one that the program has set is fatal for tasks too, where the MPI asks it.
        MPI_Comm_set_errhandler(comm, comm == MPI_COMM_SELF ? MPI_ERRORS_RETURN : before);
        if (before != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&before);
    }
}

TEST_F(LostCodes, ATruncatedMessageFailsItsReceiveBesideTheRunOfAPlanToo) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    std::array<int, 2> of_plan{};
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    const commtask_op member = commtask_op_recv(of_plan.data(), 1, MPI_INT, left(), 7, comm_);
    EXPECT_EQ(commtask_post_operation(&member, nullptr, nullptr), COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK);
    const own_handler handler;
    handler.set_on(MPI_COMM_SELF);
    for (const int n_sent : {1, 2}) { // the plan's own message is right, and too long
        SCOPED_TRACE(n_sent);
        commtask_t whole = COMMTASK_NULL;
        ASSERT_EQ(commtask_plan_start(plan, nullptr, &whole), COMMTASK_OK);
        commtask_t receive = post(commtask_op_recv(values_.data(), 1, MPI_INT, left(), 0, comm_));
        commtask_t send = post(commtask_op_send(&values_[1], 3, MPI_INT, right(), 0, comm_));
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(receive, &status), COMMTASK_FAILED);
        EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
        finish(send); // MPI may tell the sender too
        commtask_t last = post(commtask_op_send(values_.data(), n_sent, MPI_INT, right(), 7, comm_));
        EXPECT_EQ(finish(whole), n_sent == 1 ? COMMTASK_OK : COMMTASK_FAILED);
        finish(last);
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
    expect_that_all_is_well();
}

TEST_F(LostCodes, WhatIsNoCommunicatorIsRefusedWithASentence) {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    // Numbers that no MPI gives out; the third looks as if MPICH had made it itself.
    for (const std::uint64_t bits : {0x12345678ULL, 0x7fffffffULL, 0x44000005ULL, 0xdeadbeefULL}) {
        MPI_Comm garbage{};
        std::memcpy(&garbage, &bits, sizeof garbage);
        const commtask_op operation = commtask_op_barrier(garbage);
        EXPECT_EQ(commtask_post_operation(&operation, nullptr, nullptr), COMMTASK_ERR_COMM) << std::hex << bits;
        EXPECT_NE(std::strstr(commtask_last_error(), "comm is not a communicator"), nullptr) << commtask_last_error();
        EXPECT_EQ(commtask_comm_register(garbage), COMMTASK_ERR_COMM) << std::hex << bits;
        const own_handler handler;
        handler.set_on(MPI_COMM_WORLD);
        EXPECT_EQ(commtask_comm_register(garbage), COMMTASK_ERR_COMM) << std::hex << bits;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    }
    if (before != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&before);
    expect_that_all_is_well();
}

} // namespace
} // namespace commtask::test
