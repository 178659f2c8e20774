// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: the messages. Rank r sends to r + 1 and receives from r - 1, in a ring, so every test runs on
// any number of ranks; a single rank sends to itself. Sizes on both sides of an MPI's eager limit.
#include "runtime_test.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <tuple>

namespace commtask::test {
namespace {

using send_function = commtask_op (*)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm) noexcept;

struct send_way {
    const char* name;
    send_function make;
};

class Send : public Runtime, public testing::WithParamInterface<std::tuple<send_way, int>> {
protected:
    void SetUp() override {
        buffer_.resize(static_cast<std::size_t>(std::get<1>(GetParam())) * sizeof(int) + MPI_BSEND_OVERHEAD);
        ASSERT_EQ(MPI_Buffer_attach(buffer_.data(), static_cast<int>(buffer_.size())), MPI_SUCCESS);
        Runtime::SetUp();
    }
    void TearDown() override {
        Runtime::TearDown();
        void* memory = nullptr;
        int size_bytes = 0;
        EXPECT_EQ(MPI_Buffer_detach(static_cast<void*>(&memory), &size_bytes), MPI_SUCCESS);
    }

private:
    std::vector<char> buffer_; // for bsend
};

TEST_P(Send, BringsTheDataAndTheStatus) {
    const auto& [way, count] = GetParam();
    const std::vector<int> sent = values_of(rank_, count);
    std::vector<int> received(static_cast<std::size_t>(count), -1);

    // A ready send needs the receive to be there: the token says so. Receives are issued in the order of posting.
    commtask_t receive = post(commtask_op_recv(received.data(), count, MPI_INT, left(), 7, comm_));
    commtask_t token_out = post(commtask_op_send(nullptr, 0, MPI_INT, left(), 8, comm_));
    commtask_t token_in = post(commtask_op_recv(nullptr, 0, MPI_INT, right(), 8, comm_));
    options how;
    commtask_t send = post(way.make(sent.data(), count, MPI_INT, right(), 7, comm_), how.after({token_in}));

    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(receive, &status), COMMTASK_OK);
    EXPECT_EQ(status.state, COMMTASK_STATE_COMPLETED);
    EXPECT_EQ(status.error, MPI_SUCCESS);
    EXPECT_EQ(status.source, left());
    EXPECT_EQ(status.tag, 7);
    EXPECT_EQ(status.bytes, static_cast<MPI_Count>(sent.size() * sizeof(int)));
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(finish(token_in), COMMTASK_OK);
    EXPECT_EQ(finish(token_out), COMMTASK_OK);
    int n_elements = -1;
    MPI_Get_count(&status.mpi, MPI_INT, &n_elements);
    EXPECT_EQ(n_elements, count);
    EXPECT_EQ(received, values_of(left(), count));
}

INSTANTIATE_TEST_SUITE_P(
    EveryWay, Send,
    testing::Combine(testing::Values(send_way{"send", commtask_op_send}, send_way{"ssend", commtask_op_ssend},
                                     send_way{"bsend", commtask_op_bsend}, send_way{"rsend", commtask_op_rsend}),
                     testing::Values(0, 1, 1000, 500'000)),
    [](const auto& parameter) {
        return std::string{std::get<0>(parameter.param).name} + '_' + std::to_string(std::get<1>(parameter.param));
    });

class Messages : public Runtime {};

TEST_F(Messages, WildcardsTellWhoSentAndWithWhichTag) {
    const int sent = 100 + rank_;
    int received = -1;
    commtask_t receive = post(commtask_op_recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_));
    commtask_t send = post(commtask_op_send(&sent, 1, MPI_INT, right(), 40 + rank_, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(receive, &status), COMMTASK_OK);
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(status.source, left());
    EXPECT_EQ(status.tag, 40 + left());
    EXPECT_EQ(received, 100 + left());
}

TEST_F(Messages, AShorterMessageThanTheBufferIsNoError) {
    const std::vector<int> sent = values_of(rank_, 3);
    std::vector<int> received(10, -1);
    commtask_t send = post(commtask_op_send(sent.data(), 3, MPI_INT, right(), 0, comm_));
    const commtask_status status = run(commtask_op_recv(received.data(), 10, MPI_INT, left(), 0, comm_));
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(status.bytes, static_cast<MPI_Count>(3 * sizeof(int)));
    EXPECT_EQ(received[2], value_of(left(), 2));
    EXPECT_EQ(received[3], -1);
}

TEST_F(Messages, NobodyAsPartnerEndsAtOnce) {
    int untouched = 5;
    run(commtask_op_send(&untouched, 1, MPI_INT, MPI_PROC_NULL, 0, comm_));
    run(commtask_op_ssend(&untouched, 1, MPI_INT, MPI_PROC_NULL, 0, comm_));
    const commtask_status status = run(commtask_op_recv(&untouched, 1, MPI_INT, MPI_PROC_NULL, 3, comm_));
    EXPECT_EQ(untouched, 5);
    EXPECT_EQ(status.source, MPI_PROC_NULL);
    EXPECT_EQ(status.tag, MPI_ANY_TAG);
    EXPECT_EQ(status.bytes, 0);
    run(commtask_op_sendrecv(&untouched, 1, MPI_INT, MPI_PROC_NULL, 0, &untouched, 1, MPI_INT, MPI_PROC_NULL, 0,
                             comm_));
    run(commtask_op_sendrecv_replace(&untouched, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, comm_));
    EXPECT_EQ(untouched, 5);
}

TEST_F(Messages, SendrecvShiftsTheRing) {
    for (const int count : {1, 200'000}) {
        const std::vector<int> sent = values_of(rank_, count);
        std::vector<int> received(static_cast<std::size_t>(count), -1);
        const commtask_status status = run(commtask_op_sendrecv(
            sent.data(), count, MPI_INT, right(), rank_, received.data(), count, MPI_INT, left(), left(), comm_));
        EXPECT_EQ(received, values_of(left(), count));
        EXPECT_EQ(status.source, left());
        EXPECT_EQ(status.tag, left());
        EXPECT_EQ(status.bytes, static_cast<MPI_Count>(static_cast<std::size_t>(count) * sizeof(int)));
    }
}

TEST_F(Messages, SendrecvShiftsALineWithOpenEnds) {
    const int to = rank_ == last() ? MPI_PROC_NULL : rank_ + 1;
    const int from = rank_ == 0 ? MPI_PROC_NULL : rank_ - 1;
    const int sent = rank_;
    int received = -1;
    const commtask_status status =
        run(commtask_op_sendrecv(&sent, 1, MPI_INT, to, 0, &received, 1, MPI_INT, from, 0, comm_));
    EXPECT_EQ(received, rank_ - 1);
    EXPECT_EQ(status.source, from);
}

TEST_F(Messages, SendrecvReplaceShiftsTheRingInOneBuffer) {
    for (const int count : {1, 200'000}) {
        std::vector<int> buffer = values_of(rank_, count);
        const commtask_status status =
            run(commtask_op_sendrecv_replace(buffer.data(), count, MPI_INT, right(), 1, left(), MPI_ANY_TAG, comm_));
        EXPECT_EQ(buffer, values_of(left(), count));
        EXPECT_EQ(status.source, left());
        EXPECT_EQ(status.tag, 1);
    }
}

TEST_F(Messages, SendrecvReplaceKeepsTheGapsOfADerivedType) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    std::array<int, 8> buffer{};
    for (int i = 0; i < 8; ++i) buffer[static_cast<std::size_t>(i)] = value_of(rank_, i);
    run(commtask_op_sendrecv_replace(buffer.data(), 1, every_other, right(), 0, left(), 0, comm_));
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(buffer[static_cast<std::size_t>(i)], value_of(i % 2 == 0 ? left() : rank_, i));
    }
    MPI_Type_free(&every_other);
}

TEST_F(Messages, AbsoluteAddressesGoWithTheNullBuffer) {
    std::array<int, 2> sent{value_of(rank_, 0), value_of(rank_, 1)};
    std::array<int, 2> received{-1, -1};
    const auto absolute = [](int& first, int& second) {
        const std::array<int, 2> lengths{1, 1};
        std::array<MPI_Aint, 2> addresses{};
        MPI_Get_address(&first, &addresses[0]);
        MPI_Get_address(&second, &addresses[1]);
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_create_hindexed(2, lengths.data(), addresses.data(), MPI_INT, &type);
        MPI_Type_commit(&type);
        return type;
    };
    MPI_Datatype send_type = absolute(sent[0], sent[1]);
    MPI_Datatype recv_type = absolute(received[1], received[0]); // crossed
    commtask_t send = post(commtask_op_send(MPI_BOTTOM, 1, send_type, right(), 0, comm_));
    run(commtask_op_recv(MPI_BOTTOM, 1, recv_type, left(), 0, comm_));
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(received[1], value_of(left(), 0));
    EXPECT_EQ(received[0], value_of(left(), 1));

    // The same door for collectives.
    run(commtask_op_bcast(MPI_BOTTOM, 1, send_type, 0, comm_));
    EXPECT_EQ(sent[0], value_of(0, 0));
    EXPECT_EQ(sent[1], value_of(0, 1));
    MPI_Type_free(&send_type);
    MPI_Type_free(&recv_type);
}

TEST_F(Messages, ATypeMayBeFreedAsSoonAsItsTaskHasEnded) {
    std::vector<int> received(2, -1);
    const std::vector<int> sent = values_of(rank_, 2);
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    commtask_t send = post(commtask_op_send(sent.data(), 1, pair, right(), 0, comm_));
    run(commtask_op_recv(received.data(), 1, pair, left(), 0, comm_));
    EXPECT_EQ(finish(send), COMMTASK_OK);
    MPI_Type_free(&pair);
    EXPECT_EQ(received, values_of(left(), 2));
}

TEST_F(Messages, MprobeLearnsTheSizeBeforeTheBufferIsMade) {
    const int count = 1 + 1000 * rank_;
    const std::vector<int> sent = values_of(rank_, count);
    MPI_Message message = MPI_MESSAGE_NULL;
    commtask_t probe = post(commtask_op_mprobe(&message, MPI_ANY_SOURCE, 5, comm_));
    commtask_t send = post(commtask_op_send(sent.data(), count, MPI_INT, right(), 5, comm_));
    commtask_status found = COMMTASK_STATUS_INIT;
    ASSERT_EQ(finish(probe, &found), COMMTASK_OK);
    EXPECT_EQ(found.source, left());
    EXPECT_EQ(found.tag, 5);
    const int expected = 1 + 1000 * left();
    ASSERT_EQ(found.bytes, static_cast<MPI_Count>(static_cast<std::size_t>(expected) * sizeof(int)));
    std::vector<int> received(static_cast<std::size_t>(found.bytes) / sizeof(int), -1);
    const commtask_status status = run(commtask_op_mrecv(received.data(), expected, MPI_INT, &message, comm_));
    EXPECT_EQ(message, MPI_MESSAGE_NULL);
    EXPECT_EQ(status.bytes, found.bytes);
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(received, values_of(left(), expected));
}

TEST_F(Messages, MrecvMayBePostedBeforeItsMprobeHasFoundAnything) {
    MPI_Message message = MPI_MESSAGE_NULL;
    std::vector<int> received(100, -1);
    commtask_t probe = post(commtask_op_mprobe(&message, left(), MPI_ANY_TAG, comm_));
    options how;
    commtask_t receive = post(commtask_op_mrecv(received.data(), 100, MPI_INT, &message, comm_), how.after({probe}));
    const std::vector<int> sent = values_of(rank_, 100);
    run(commtask_op_ssend(sent.data(), 100, MPI_INT, right(), 9, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(receive, &status), COMMTASK_OK);
    EXPECT_EQ(status.tag, 9);
    EXPECT_EQ(finish(probe), COMMTASK_OK);
    EXPECT_EQ(received, values_of(left(), 100));
}

TEST_F(Messages, MprobeOfNobodyGivesTheMessageOfNobody) {
    MPI_Message message = MPI_MESSAGE_NULL;
    const commtask_status found = run(commtask_op_mprobe(&message, MPI_PROC_NULL, 0, comm_));
    EXPECT_EQ(message, MPI_MESSAGE_NO_PROC);
    EXPECT_EQ(found.source, MPI_PROC_NULL);
    int untouched = 5;
    const commtask_status status = run(commtask_op_mrecv(&untouched, 1, MPI_INT, &message, comm_));
    EXPECT_EQ(untouched, 5);
    EXPECT_EQ(status.bytes, 0);
}

TEST_F(Messages, SeveralMprobesTakeTheMessagesInTheOrderOfSending) {
    constexpr std::size_t n_messages = 8;
    std::array<MPI_Message, n_messages> messages{};
    std::array<commtask_t, n_messages> probes{};
    std::array<commtask_t, n_messages> sends{};
    std::array<int, n_messages> sent{};
    for (std::size_t i = 0; i < n_messages; ++i) {
        probes[i] = post(commtask_op_mprobe(&messages[i], left(), 1, comm_));
    }
    for (std::size_t i = 0; i < n_messages; ++i) {
        sent[i] = value_of(rank_, static_cast<int>(i));
        sends[i] = post(commtask_op_send(&sent[i], 1, MPI_INT, right(), 1, comm_));
    }
    for (std::size_t i = 0; i < n_messages; ++i) {
        ASSERT_EQ(finish(probes[i]), COMMTASK_OK);
        int received = -1;
        run(commtask_op_mrecv(&received, 1, MPI_INT, &messages[i], comm_));
        EXPECT_EQ(received, value_of(left(), static_cast<int>(i)));
        EXPECT_EQ(finish(sends[i]), COMMTASK_OK);
    }
}

} // namespace
} // namespace commtask::test
