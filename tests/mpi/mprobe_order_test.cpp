// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.order: an ordered mprobe has the first message that it could take, although receives that were issued after
// it could take that too. Each rank sends to itself, so every message comes after all the rest was posted.
#include "runtime_test.hpp"

#include <array>
#include <deque>
#include <vector>

namespace commtask::test {
namespace {

class MprobeOrder : public Runtime {
protected:
    static constexpr int tag = 5;

    [[nodiscard]] commtask_t post_ordered(const commtask_op& op) {
        options ordered;
        return post(op, ordered.flags(COMMTASK_ORDERED));
    }
    [[nodiscard]] commtask_t post_probe(MPI_Message& found, int of_tag = tag) {
        return post(commtask_op_mprobe(&found, rank_, of_tag, comm_));
    }
    /// A pass over all that was posted.
    void let_it_be_issued() { run(commtask_op_noop(comm_)); }

    /// Not waited for: a message to oneself may end when it is received.
    void send(int value, int with_tag = tag) {
        values_.push_back(value);
        sends_.push_back(post(commtask_op_send(&values_.back(), 1, MPI_INT, rank_, with_tag, comm_)));
    }

    [[nodiscard]] int received(MPI_Message& found) {
        int value = -1;
        run(commtask_op_mrecv(&value, 1, MPI_INT, &found, comm_));
        return value;
    }

    void TearDown() override {
        EXPECT_EQ(commtask_wait_all_for(sends_.size(), sends_.data(), limit_ns, nullptr), COMMTASK_OK);
        Runtime::TearDown();
    }

    MPI_Message message_ = MPI_MESSAGE_NULL;
    std::deque<int> values_;
    std::vector<commtask_t> sends_;
};

TEST_F(MprobeOrder, ReceivesOfEveryKindWaitBehindAnOrderedMprobe) {
    const int out = 77;
    int in = -1;
    int both = 78;
    const auto receives = {
        commtask_op_recv(&in, 1, MPI_INT, rank_, tag, comm_),
        commtask_op_recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_),
        commtask_op_sendrecv(&out, 1, MPI_INT, rank_, tag + 1, &in, 1, MPI_INT, rank_, tag, comm_),
        commtask_op_sendrecv_replace(&both, 1, MPI_INT, rank_, tag + 1, rank_, tag, comm_),
    };
    for (const commtask_op& op : receives) {
        for (const bool is_ordered : {true, false}) {
            int sent_along = -1;
            commtask_t taken = post(commtask_op_recv(&sent_along, 1, MPI_INT, rank_, tag + 1, comm_));
            both = 78;
            commtask_t probe = post_probe(message_);
            commtask_t receive = is_ordered ? post_ordered(op) : post(op);
            const bool sends = op.kind != COMMTASK_OP_RECV;
            if (!sends) send(79, tag + 1);
            EXPECT_EQ(finish(taken), COMMTASK_OK) << "the send of a sendrecv does not wait";
            EXPECT_EQ(sent_along, op.kind == COMMTASK_OP_RECV ? 79 : op.kind == COMMTASK_OP_SENDRECV ? out : 78);
            send(1);
            send(2);
            EXPECT_EQ(finish(probe), COMMTASK_OK);
            EXPECT_EQ(finish(receive), COMMTASK_OK);
            EXPECT_EQ(op.kind == COMMTASK_OP_SENDRECV_REPLACE ? both : in, 2);
            EXPECT_EQ(received(message_), 1);
        }
    }
}

TEST_F(MprobeOrder, OtherMessagesAreNotHeldBack) {
    commtask_t probe = post_probe(message_);
    int in = -1;
    commtask_t other = post_ordered(commtask_op_recv(&in, 1, MPI_INT, rank_, tag + 1, comm_));
    int nothing = 3;
    run(commtask_op_recv(&nothing, 1, MPI_INT, MPI_PROC_NULL, tag, comm_));
    send(4, tag + 1);
    EXPECT_EQ(finish(other), COMMTASK_OK);
    EXPECT_EQ(in, 4);
    send(5);
    EXPECT_EQ(finish(probe), COMMTASK_OK);
    EXPECT_EQ(received(message_), 5);
}

TEST_F(MprobeOrder, AnUnorderedMprobeLetsReceivesPass) {
    // As a thread that takes whatever comes does, beside others that know what they want.
    options unordered;
    commtask_t any =
        post(commtask_op_mprobe(&message_, rank_, MPI_ANY_TAG, comm_), unordered.flags(COMMTASK_UNORDERED));
    int in = -1;
    commtask_t known = post(commtask_op_recv(&in, 1, MPI_INT, rank_, tag, comm_));
    let_it_be_issued();
    send(6);
    EXPECT_EQ(finish(known), COMMTASK_OK);
    EXPECT_EQ(in, 6);
    send(7);
    EXPECT_EQ(finish(any), COMMTASK_OK);
    EXPECT_EQ(received(message_), 7);
}

TEST_F(MprobeOrder, SeveralOfBothTakeTheMessagesInTheOrderOfIssue) {
    std::array<MPI_Message, 3> messages{};
    std::array<int, 3> in{-1, -1, -1};
    std::vector<commtask_t> tasks;
    for (std::size_t i = 0; i < in.size(); ++i) {
        tasks.push_back(post_probe(messages[i]));
        tasks.push_back(post_ordered(commtask_op_recv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, tag, comm_)));
    }
    let_it_be_issued();
    for (int i = 0; i < 6; ++i) send(i);
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    for (std::size_t i = 0; i < in.size(); ++i) {
        EXPECT_EQ(received(messages[i]), static_cast<int>(2 * i));
        EXPECT_EQ(in[i], static_cast<int>(2 * i + 1));
    }
}

TEST_F(MprobeOrder, WhatIsCanceledHoldsNobodyBack) {
    commtask_t probe = post_probe(message_);
    int in = -1;
    int never = -1;
    commtask_t held = post_ordered(commtask_op_recv(&never, 1, MPI_INT, rank_, tag, comm_));
    commtask_t last = post_ordered(commtask_op_recv(&in, 1, MPI_INT, rank_, tag, comm_));
    let_it_be_issued();
    EXPECT_EQ(commtask_cancel(held), COMMTASK_OK);
    EXPECT_EQ(finish(held), COMMTASK_CANCELED);
    EXPECT_EQ(commtask_cancel(probe), COMMTASK_OK);
    EXPECT_EQ(finish(probe), COMMTASK_CANCELED);
    send(8);
    EXPECT_EQ(finish(last), COMMTASK_OK);
    EXPECT_EQ(in, 8);
    EXPECT_EQ(never, -1);
}

TEST_F(MprobeOrder, ACanceledSendrecvThatIsHeldStillSends) {
    commtask_t probe = post_probe(message_);
    const int out = 9;
    int in = -1;
    commtask_t held =
        post_ordered(commtask_op_sendrecv(&out, 1, MPI_INT, rank_, tag + 1, &in, 1, MPI_INT, rank_, tag, comm_));
    let_it_be_issued();
    EXPECT_EQ(commtask_cancel(held), COMMTASK_OK);
    int arrived = -1;
    run(commtask_op_recv(&arrived, 1, MPI_INT, rank_, tag + 1, comm_));
    EXPECT_EQ(arrived, out);
    EXPECT_EQ(finish(held), COMMTASK_CANCELED);
    send(10);
    EXPECT_EQ(finish(probe), COMMTASK_OK);
    EXPECT_EQ(received(message_), 10);
}

} // namespace
} // namespace commtask::test
