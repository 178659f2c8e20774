// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: operations of many messages. Each is as many plain messages as its lists have ranks, of one task:
// whoever is at the other end receives and sends as it likes.
#include "mpi_facts.hpp"
#include "runtime_test.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace commtask::test {
namespace {

/// Blocks to and from a list of ranks, with arrays of either kind.
struct blocks {
    std::vector<int> ranks{};
    std::vector<MPI_Count> counts{};
    std::vector<MPI_Aint> displs{};
    std::vector<int> int_counts{};
    std::vector<int> int_displs{};
    std::vector<int> values{};

    /// One after the other, with a gap of one between them.
    void add(int rank, int count) {
        ranks.push_back(rank);
        counts.push_back(count);
        int_counts.push_back(count);
        displs.push_back(static_cast<MPI_Aint>(values.size()));
        int_displs.push_back(static_cast<int>(values.size()));
        values.resize(values.size() + static_cast<std::size_t>(count) + 1, -1);
    }
    [[nodiscard]] int& at(std::size_t block, int i) { return values[static_cast<std::size_t>(int_displs[block] + i)]; }
    [[nodiscard]] int n_ranks() const { return static_cast<int>(ranks.size()); }
};

class Many : public Runtime {
protected:
    [[nodiscard]] commtask_op exchange(const blocks& out, blocks& in, bool is_int, int tag = 1) {
        if (is_int) {
            return commtask_op_many_to_many_int(out.values.data(), out.int_counts.data(), out.int_displs.data(),
                                                MPI_INT, out.ranks.data(), out.n_ranks(), in.values.data(),
                                                in.int_counts.data(), in.int_displs.data(), MPI_INT, in.ranks.data(),
                                                in.n_ranks(), tag, comm_);
        }
        return commtask_op_many_to_many(out.values.data(), out.counts.data(), out.displs.data(), MPI_INT,
                                        out.ranks.data(), out.n_ranks(), in.values.data(), in.counts.data(),
                                        in.displs.data(), MPI_INT, in.ranks.data(), in.n_ranks(), tag, comm_);
    }
    void fill(blocks& out, int turn) {
        for (std::size_t block = 0; block < out.ranks.size(); ++block) {
            for (int i = 0; i < out.int_counts[block]; ++i) out.at(block, i) = value_of(rank_, 1000 * turn + i);
        }
    }
    void expect(blocks& in, int turn) {
        for (std::size_t block = 0; block < in.ranks.size(); ++block) {
            if (in.ranks[block] == MPI_PROC_NULL) continue;
            for (int i = 0; i < in.int_counts[block]; ++i) {
                ASSERT_EQ(in.at(block, i), value_of(in.ranks[block], 1000 * turn + i)) << "from " << in.ranks[block];
            }
            ASSERT_EQ(in.at(block, in.int_counts[block]), -1) << "behind the block from " << in.ranks[block];
        }
    }
    /// A pattern that every rank knows: how much `from` sends to `to`. Most pairs have nothing to say.
    [[nodiscard]] static int amount(int pattern, int from, int to) {
        const int mixed = (7 * from + 13 * to + 29 * pattern) % 5;
        return mixed < 3 ? 0 : 17 * mixed + from;
    }
};

TEST_F(Many, OneBufferReachesEveryRankOfAList) {
    std::vector<int> everyone(static_cast<std::size_t>(n_ranks_) + 1, MPI_PROC_NULL); // and nobody
    std::iota(everyone.begin(), everyone.end() - 1, 0);
    for (const int count : {0, 1, 50'000}) {
        const std::vector<int> mine = values_of(rank_, count);
        std::vector<std::vector<int>> theirs;
        std::vector<commtask_t> tasks;
        for (int source = 0; source < n_ranks_; ++source) {
            theirs.emplace_back(static_cast<std::size_t>(count), -1);
            tasks.push_back(post(commtask_op_recv(theirs.back().data(), count, MPI_INT, source, 1, comm_)));
        }
        tasks.push_back(post(commtask_op_multicast(mine.data(), count, MPI_INT, everyone.data(),
                                                   static_cast<int>(everyone.size()), 1, comm_)));
        for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
        for (int source = 0; source < n_ranks_; ++source) {
            EXPECT_EQ(theirs[static_cast<std::size_t>(source)], values_of(source, count));
        }
    }
    run(commtask_op_multicast(nullptr, 0, MPI_INT, nullptr, 0, 1, comm_));
}

TEST_F(Many, BlocksGoAmongThoseWhoHaveSomethingToSay) {
    for (int pattern = 0; pattern < 10; ++pattern) {
        blocks out;
        blocks in;
        out.add(MPI_PROC_NULL, 3);
        in.add(MPI_PROC_NULL, 3);
        int n_received = 0;
        for (int other = 0; other < n_ranks_; ++other) {
            if (const int count = amount(pattern, rank_, other); count > 0) out.add(other, count);
            const int count = amount(pattern, other, rank_);
            if (count > 0) in.add(other, count);
            n_received += count;
        }
        fill(out, pattern);
        const commtask_status status = run(exchange(out, in, pattern % 2 == 0));
        EXPECT_EQ(status.bytes, static_cast<MPI_Count>(sizeof(int)) * n_received);
        expect(in, pattern);
    }
}

TEST_F(Many, BlocksMatchPlainMessages) {
    // Every rank sends to its right; those with an even number do it by lists.
    for (int turn = 0; turn < 5; ++turn) {
        blocks out;
        blocks in;
        out.add(right(), 20);
        in.add(left(), 20);
        fill(out, turn);
        if (rank_ % 2 == 0) {
            run(exchange(out, in, true));
        } else {
            commtask_t receive = post(commtask_op_recv(in.values.data(), 20, MPI_INT, left(), 1, comm_));
            run(commtask_op_send(out.values.data(), 20, MPI_INT, right(), 1, comm_));
            EXPECT_EQ(finish(receive), COMMTASK_OK);
        }
        expect(in, turn);
    }
}

TEST_F(Many, AreWithdrawnAndLeaveTheOthersAlone) {
    blocks out;
    blocks in;
    out.add(rank_, 5);
    in.add(rank_, 5);
    in.add(rank_, 5); // nobody sends it
    fill(out, 0);
    commtask_t task = post(exchange(out, in, true));
    // One that left later has come, so its message has come too; MPICH 5 takes its time with those to oneself.
    int later = 0;
    run(commtask_op_sendrecv(&rank_, 1, MPI_INT, rank_, 2, &later, 1, MPI_INT, rank_, 2, comm_));
    EXPECT_EQ(commtask_cancel(task), COMMTASK_OK);
    EXPECT_EQ(finish(task), COMMTASK_CANCELED);
    // What was withdrawn takes nothing any more.
    int got = -1;
    const int sent = 44;
    commtask_t receive = post(commtask_op_recv(&got, 1, MPI_INT, rank_, 1, comm_));
    run(commtask_op_send(&sent, 1, MPI_INT, rank_, 1, comm_));
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(got, 44);
}

TEST_F(Many, OneThatFailsDoesNotTakeTheOthersBack) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not tell of a message to oneself that is too long";
    blocks out;
    blocks in;
    out.add(right(), 20);
    out.add(right(), 30);
    in.add(left(), 10); // too little
    in.add(left(), 30);
    fill(out, 0);
    commtask_status status = COMMTASK_STATUS_INIT;
    commtask_t task = post(exchange(out, in, false));
    EXPECT_EQ(finish(task, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(in.at(1, i), value_of(left(), i));
}

TEST_F(Many, WaitBehindAnOrderedMprobe) {
    MPI_Message message = MPI_MESSAGE_NULL;
    options ordered;
    commtask_t probe = post(commtask_op_mprobe(&message, rank_, 1, comm_), ordered.flags(COMMTASK_ORDERED).get());
    blocks out; // to itself: two messages, of which the mprobe wants the first
    blocks in;
    out.add(rank_, 1);
    out.add(rank_, 2);
    in.add(rank_, 2);
    fill(out, 3);
    commtask_t task = post(exchange(out, in, true));
    EXPECT_EQ(finish(probe), COMMTASK_OK);
    int first = -1;
    run(commtask_op_mrecv(&first, 1, MPI_INT, &message, comm_));
    EXPECT_EQ(first, value_of(rank_, 3000));
    EXPECT_EQ(finish(task), COMMTASK_OK);
    expect(in, 3);
    // And one that is canceled while it waits there.
    probe = post(commtask_op_mprobe(&message, rank_, 1, comm_), ordered.get());
    blocks nothing;
    task = post(exchange(nothing, in, true));
    run(commtask_op_noop(comm_));
    EXPECT_EQ(commtask_cancel(task), COMMTASK_OK);
    EXPECT_EQ(finish(task), COMMTASK_CANCELED);
    EXPECT_EQ(commtask_cancel(probe), COMMTASK_OK);
    EXPECT_EQ(finish(probe), COMMTASK_CANCELED);
}

TEST_F(Many, AreRecorded) {
    std::array<blocks, 2> out;
    std::array<blocks, 2> in;
    for (std::size_t i = 0; i < 2; ++i) {
        out[i].add(right(), 100);
        out[i].add(left(), 7);
        out[i].add(MPI_PROC_NULL, 1);
        in[i].add(left(), 100);
        in[i].add(right(), 7);
    }
    int said = 0;
    int heard = -1;
    const int next = right();
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    EXPECT_EQ(commtask_post(exchange(out[0], in[0], false), nullptr, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_post(commtask_op_recv(&heard, 1, MPI_INT, left(), 2, comm_), nullptr, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_post(commtask_op_multicast(&said, 1, MPI_INT, &next, 1, 2, comm_), nullptr, nullptr),
              COMMTASK_OK);
    EXPECT_EQ(commtask_post(commtask_op_multicast(&said, 1, MPI_INT, nullptr, 0, 2, comm_), nullptr, nullptr),
              COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error();
    for (int turn = 0; turn < 10; ++turn) {
        const auto now = static_cast<std::size_t>(turn % 2);
        EXPECT_EQ(commtask_plan_rebind(plan, 0, out[now].values.data(), in[now].values.data()), COMMTASK_OK);
        fill(out[now], turn);
        said = value_of(rank_, turn);
        run(commtask_op_plan(plan));
        expect(in[now], turn);
        EXPECT_EQ(heard, value_of(left(), turn));
    }
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
}

TEST_F(Many, PartitionsAreForPlansOnly) {
    int value = 0;
    for (const commtask_op& op : {commtask_op_psend(&value, 1, 1, MPI_INT, rank_, 1, comm_),
                                  commtask_op_precv(&value, 1, 1, MPI_INT, rank_, 1, comm_)}) {
        kinds_posted.at(static_cast<std::size_t>(op.kind)) = true;
        EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), COMMTASK_ERR_ARGUMENT);
        EXPECT_NE(std::string(commtask_last_error()).find("commtask_record_begin"), std::string::npos);
        commtask_ticket ticket{};
        EXPECT_EQ(commtask_ticket_take(&op, &ticket), COMMTASK_ERR_ARGUMENT);
    }
}

} // namespace
} // namespace commtask::test
