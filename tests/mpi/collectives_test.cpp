// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: collectives whose counts are one number, comm_dup, and those that MPI defines for
// intercommunicators. What must come out is computed from ranks alone, never by another call of MPI.
#include "runtime_test.hpp"

#include <algorithm>
#include <cstddef>

namespace commtask::test {
namespace {

constexpr int count = 5;

class Collectives : public Runtime {
protected:
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(n_ranks_); }

    /// The blocks of all ranks, one after the other.
    [[nodiscard]] std::vector<int> all_blocks() const {
        std::vector<int> all;
        for (int rank = 0; rank < n_ranks_; ++rank) {
            const std::vector<int> block = values_of(rank, count);
            all.insert(all.end(), block.begin(), block.end());
        }
        return all;
    }
    /// Sum of entry i over ranks first <= rank < end.
    [[nodiscard]] static std::vector<int> sum_over(int first, int end) {
        std::vector<int> sum(count, 0);
        for (int rank = first; rank < end; ++rank) {
            for (int i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += value_of(rank, i);
        }
        return sum;
    }
};

TEST_F(Collectives, NobodyLeavesABarrierBeforeTheLastHasEntered) {
    event gate;
    options how;
    if (rank_ == last()) how.on({gate.get()});
    commtask_t barrier = post(commtask_op_barrier(comm_), how);
    // The last rank enters when all others have seen that they are still inside.
    if (rank_ == last()) {
        for (int rank = 0; rank < last(); ++rank) run(commtask_op_recv(nullptr, 0, MPI_INT, rank, 0, comm_));
        gate.signal();
    } else {
        EXPECT_EQ(commtask_wait_for(&barrier, second_ns / 50, nullptr), COMMTASK_TIMEOUT);
        run(commtask_op_send(nullptr, 0, MPI_INT, last(), 0, comm_));
    }
    EXPECT_EQ(finish(barrier), COMMTASK_OK);
}

TEST_F(Collectives, BcastReachesAllFromEveryRoot) {
    for (int root = 0; root < n_ranks_; ++root) {
        for (const int n : {0, 1, 100'000}) {
            std::vector<int> buffer =
                rank_ == root ? values_of(root, n) : std::vector<int>(static_cast<std::size_t>(n));
            run(commtask_op_bcast(buffer.data(), n, MPI_INT, root, comm_));
            EXPECT_EQ(buffer, values_of(root, n));
        }
    }
}

TEST_F(Collectives, GatherCollectsAtTheRootAloneAndInPlace) {
    const std::vector<int> mine = values_of(rank_, count);
    const bool is_root = rank_ == last();
    std::vector<int> all(is_root ? size() * count : 0, -1);
    run(commtask_op_gather(mine.data(), count, MPI_INT, is_root ? all.data() : nullptr, count, MPI_INT, last(), comm_));
    if (is_root) {
        EXPECT_EQ(all, all_blocks());
        std::fill(all.begin(), all.end() - count, -1); // its own block is the last and stays
        run(commtask_op_gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, MPI_INT, last(), comm_));
        EXPECT_EQ(all, all_blocks());
    } else {
        run(commtask_op_gather(mine.data(), count, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, last(), comm_));
    }
}

TEST_F(Collectives, ScatterHandsOutFromTheRootAndInPlace) {
    const bool is_root = rank_ == last();
    const std::vector<int> all = is_root ? all_blocks() : std::vector<int>{};
    std::vector<int> mine(count, -1);
    run(commtask_op_scatter(is_root ? all.data() : nullptr, count, MPI_INT, mine.data(), count, MPI_INT, last(),
                            comm_));
    EXPECT_EQ(mine, values_of(rank_, count));
    if (is_root) {
        run(commtask_op_scatter(all.data(), count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, last(), comm_));
    } else {
        std::fill(mine.begin(), mine.end(), -1);
        run(commtask_op_scatter(nullptr, 0, MPI_DATATYPE_NULL, mine.data(), count, MPI_INT, last(), comm_));
    }
    EXPECT_EQ(mine, values_of(rank_, count));
}

TEST_F(Collectives, AllgatherCollectsEverywhereAndInPlace) {
    const std::vector<int> mine = values_of(rank_, count);
    std::vector<int> all(size() * count, -1);
    run(commtask_op_allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, comm_));
    EXPECT_EQ(all, all_blocks());
    std::fill(all.begin(), all.end(), -1);
    std::copy(mine.begin(), mine.end(), all.begin() + rank_ * count);
    run(commtask_op_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, MPI_INT, comm_));
    EXPECT_EQ(all, all_blocks());
}

TEST_F(Collectives, AlltoallTransposesAndInPlace) {
    std::vector<int> sent(size());
    std::vector<int> expected(size());
    for (std::size_t rank = 0; rank < size(); ++rank) {
        sent[rank] = value_of(rank_, static_cast<int>(rank));
        expected[rank] = value_of(static_cast<int>(rank), rank_);
    }
    std::vector<int> received(size(), -1);
    run(commtask_op_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm_));
    EXPECT_EQ(received, expected);
    received = sent;
    run(commtask_op_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received.data(), 1, MPI_INT, comm_));
    EXPECT_EQ(received, expected);
}

TEST_F(Collectives, ReduceSumsAtTheRootAloneAndInPlace) {
    std::vector<int> mine = values_of(rank_, count);
    const bool is_root = rank_ == last();
    std::vector<int> sum(is_root ? count : 0, -1);
    run(commtask_op_reduce(mine.data(), is_root ? sum.data() : nullptr, count, MPI_INT, MPI_SUM, last(), comm_));
    if (is_root) {
        EXPECT_EQ(sum, sum_over(0, n_ranks_));
        run(commtask_op_reduce(MPI_IN_PLACE, mine.data(), count, MPI_INT, MPI_SUM, last(), comm_));
        EXPECT_EQ(mine, sum_over(0, n_ranks_));
    } else {
        run(commtask_op_reduce(mine.data(), nullptr, count, MPI_INT, MPI_SUM, last(), comm_));
    }
}

TEST_F(Collectives, AllreduceSumsEverywhereAndInPlace) {
    std::vector<int> mine = values_of(rank_, count);
    std::vector<int> sum(count, -1);
    run(commtask_op_allreduce(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, sum_over(0, n_ranks_));
    run(commtask_op_allreduce(MPI_IN_PLACE, mine.data(), count, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(mine, sum_over(0, n_ranks_));
}

void keep_the_right_one(void* in, void* in_out, int* length, MPI_Datatype* /*type*/) {
    // Associative, not commutative: the result says in which order MPI combined.
    const int* from = static_cast<const int*>(in);
    int* to = static_cast<int*>(in_out);
    for (int i = 0; i < *length; ++i) to[i] = to[i] == -1 ? from[i] : to[i];
}

TEST_F(Collectives, AllreduceTakesTheUsersReduction) {
    MPI_Op right_one = MPI_OP_NULL;
    MPI_Op_create(keep_the_right_one, 0, &right_one);
    const int mine = rank_;
    int result = -1;
    run(commtask_op_allreduce(&mine, &result, 1, MPI_INT, right_one, comm_));
    EXPECT_EQ(result, last());
    MPI_Op_free(&right_one);
}

TEST_F(Collectives, ScanSumsUpToItselfAndInPlace) {
    std::vector<int> mine = values_of(rank_, count);
    std::vector<int> sum(count, -1);
    run(commtask_op_scan(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, sum_over(0, rank_ + 1));
    run(commtask_op_scan(MPI_IN_PLACE, mine.data(), count, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(mine, sum_over(0, rank_ + 1));
}

TEST_F(Collectives, ExscanSumsUpToTheOneBeforeAndInPlace) {
    std::vector<int> mine = values_of(rank_, count);
    std::vector<int> sum(count, -1);
    run(commtask_op_exscan(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, comm_));
    if (rank_ > 0) {
        EXPECT_EQ(sum, sum_over(0, rank_));
    } // rank 0 receives nothing
    run(commtask_op_exscan(MPI_IN_PLACE, mine.data(), count, MPI_INT, MPI_SUM, comm_));
    if (rank_ > 0) {
        EXPECT_EQ(mine, sum_over(0, rank_));
    }
}

TEST_F(Collectives, ReduceScatterBlockGivesEachRankItsBlockAndInPlace) {
    // Entry i of block b of rank r is value_of(r, 100 b + i).
    std::vector<int> mine;
    std::vector<int> expected(count, 0);
    for (int block = 0; block < n_ranks_; ++block) {
        for (int i = 0; i < count; ++i) {
            mine.push_back(value_of(rank_, 100 * block + i));
            if (block == rank_) {
                for (int rank = 0; rank < n_ranks_; ++rank) {
                    expected[static_cast<std::size_t>(i)] += value_of(rank, 100 * block + i);
                }
            }
        }
    }
    std::vector<int> sum(count, -1);
    run(commtask_op_reduce_scatter_block(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, expected);
    run(commtask_op_reduce_scatter_block(MPI_IN_PLACE, mine.data(), count, MPI_INT, MPI_SUM, comm_));
    mine.resize(count);
    EXPECT_EQ(mine, expected);
}

TEST_F(Collectives, NothingToTransferNeedsNoBuffer) {
    run(commtask_op_send(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, comm_));
    run(commtask_op_bcast(nullptr, 0, MPI_INT, 0, comm_));
    run(commtask_op_gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, comm_));
    run(commtask_op_scatter(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, comm_));
    run(commtask_op_allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm_));
    run(commtask_op_alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm_));
    run(commtask_op_allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm_));
    run(commtask_op_reduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, 0, comm_));
    run(commtask_op_scan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm_));
    run(commtask_op_exscan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm_));
    run(commtask_op_reduce_scatter_block(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm_));
}

int free_communicator(void* argument) { return MPI_Comm_free(static_cast<MPI_Comm*>(argument)); }

TEST_F(Collectives, CommDupGivesACommunicatorThatTasksCanUse) {
    MPI_Comm copy = MPI_COMM_NULL;
    run(commtask_op_comm_dup(&copy, comm_));
    ASSERT_NE(copy, MPI_COMM_NULL);
    int relation = MPI_UNEQUAL;
    EXPECT_EQ(MPI_Comm_compare(comm_, copy, &relation), MPI_SUCCESS);
    EXPECT_EQ(relation, MPI_CONGRUENT);

    // Messages of the two never meet.
    int from_old = -1;
    int from_new = -1;
    const int old_value = 1;
    const int new_value = 2;
    commtask_t new_receive = post(commtask_op_recv(&from_new, 1, MPI_INT, left(), 0, copy));
    commtask_t old_receive = post(commtask_op_recv(&from_old, 1, MPI_INT, left(), 0, comm_));
    run(commtask_op_send(&old_value, 1, MPI_INT, right(), 0, comm_));
    run(commtask_op_send(&new_value, 1, MPI_INT, right(), 0, copy));
    EXPECT_EQ(finish(new_receive), COMMTASK_OK);
    EXPECT_EQ(finish(old_receive), COMMTASK_OK);
    EXPECT_EQ(from_old, old_value);
    EXPECT_EQ(from_new, new_value);

    run(commtask_op_call(free_communicator, &copy, comm_));
    EXPECT_EQ(copy, MPI_COMM_NULL);
}

/// Even ranks on one side, odd ranks on the other.
class Intercommunicator : public Collectives {
protected:
    void SetUp() override {
        Collectives::SetUp();
        if (n_ranks_ < 2) GTEST_SKIP() << "needs two ranks";
        ASSERT_EQ(MPI_Comm_split(comm_, rank_ % 2, rank_, &local_), MPI_SUCCESS);
        ASSERT_EQ(MPI_Intercomm_create(local_, 0, comm_, 1 - rank_ % 2, 99, &inter_), MPI_SUCCESS);
        MPI_Comm_remote_size(inter_, &n_remote_);
        is_first_ = rank_ == rank_ % 2;
    }
    void TearDown() override {
        if (inter_ != MPI_COMM_NULL) MPI_Comm_free(&inter_);
        if (local_ != MPI_COMM_NULL) MPI_Comm_free(&local_);
        Collectives::TearDown();
    }
    MPI_Comm local_ = MPI_COMM_NULL;
    MPI_Comm inter_ = MPI_COMM_NULL;
    int n_remote_ = 0;
    bool is_first_ = false; ///< Of its side.
};

TEST_F(Intercommunicator, MessagesGoToTheRanksOfTheOtherSide) {
    const int sent = 10 * rank_;
    if (is_first_) {
        std::vector<int> received(static_cast<std::size_t>(n_remote_), -1);
        std::vector<commtask_t> receives;
        for (int i = 0; i < n_remote_; ++i) {
            receives.push_back(
                post(commtask_op_recv(&received[static_cast<std::size_t>(i)], 1, MPI_INT, i, 0, inter_)));
        }
        run(commtask_op_send(&sent, 1, MPI_INT, 0, 0, inter_));
        for (commtask_t& receive : receives) EXPECT_EQ(finish(receive), COMMTASK_OK);
        for (int i = 0; i < n_remote_; ++i) {
            EXPECT_EQ(received[static_cast<std::size_t>(i)], 10 * (2 * i + 1 - rank_ % 2));
        }
    } else {
        run(commtask_op_send(&sent, 1, MPI_INT, 0, 0, inter_));
    }
}

TEST_F(Intercommunicator, ARankBeyondTheOtherSideIsRefused) {
    int value = 0;
    const commtask_op beyond = commtask_op_send(&value, 1, MPI_INT, n_remote_, 0, inter_);
    EXPECT_EQ(commtask_post_operation(&beyond, nullptr, nullptr), COMMTASK_ERR_RANK);
}

TEST_F(Intercommunicator, BcastGoesFromOneRootToTheOtherSide) {
    const int root = rank_ % 2 == 1 ? 0 : is_first_ ? MPI_ROOT : MPI_PROC_NULL;
    std::vector<int> buffer(count, -1);
    if (root == MPI_ROOT) buffer = values_of(7, count);
    run(commtask_op_bcast(buffer.data(), count, MPI_INT, root, inter_));
    if (rank_ % 2 == 1) {
        EXPECT_EQ(buffer, values_of(7, count));
    }
    if (root == MPI_PROC_NULL) {
        EXPECT_EQ(buffer[0], -1);
    }
}

TEST_F(Intercommunicator, AllreduceGivesTheSumOfTheOtherSide) {
    const int mine = rank_;
    int sum = -1;
    run(commtask_op_allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter_));
    int expected = 0;
    for (int rank = 1 - rank_ % 2; rank < n_ranks_; rank += 2) expected += rank;
    EXPECT_EQ(sum, expected);
    run(commtask_op_barrier(inter_));
}

TEST_F(Intercommunicator, GatherCollectsFromTheOtherSide) {
    const int root = rank_ % 2 == 1 ? 0 : is_first_ ? MPI_ROOT : MPI_PROC_NULL;
    const int mine = rank_;
    std::vector<int> all(static_cast<std::size_t>(n_remote_), -1);
    run(commtask_op_gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, root, inter_));
    if (root != MPI_ROOT) return;
    for (int i = 0; i < n_remote_; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], 2 * i + 1);
}

} // namespace
} // namespace commtask::test
