// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.freed: lists of ranks, counts and displacements belong to the program again when a post has returned, but for
// those of collectives with more than 16 entries. With COMMTASK_CHECK=1 a program that changes one of these is told.
#include "runtime_test.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace commtask::test {
namespace {

class ReusedLists : public Runtime {
protected:
    /// Waits for a gate, so that the program is surely quicker.
    [[nodiscard]] const commtask_options* later() { return later_.on({gate_->get()}).get(); }
    void SetUp() override {
        Runtime::SetUp();
        gate_ = std::make_unique<event>();
    }
    void TearDown() override {
        gate_.reset();
        Runtime::TearDown();
    }
    template <typename List>
    static void spoil(List& list) {
        std::fill(list.begin(), list.end(), 1 << 20);
    }
    /// Lets the task go, and waits for it.
    [[nodiscard]] int end(commtask_t& task, commtask_status* status = nullptr) {
        gate_->signal();
        return finish(task, status);
    }

private:
    std::unique_ptr<event> gate_;
    options later_;
};

TEST_F(ReusedLists, OfAMulticastOfAnyLength) {
    std::array<int, 1000> dests{};
    for (std::size_t i = 0; i < dests.size(); ++i) dests[i] = i < 3 ? right() : MPI_PROC_NULL;
    commtask_t task = post(
        commtask_op_multicast(&rank_, 1, MPI_INT, dests.data(), static_cast<int>(dests.size()), 4, comm_), later());
    spoil(dests);
    std::array<commtask_t, 3> receives{};
    std::array<int, 3> got{};
    for (std::size_t i = 0; i < 3; ++i) receives[i] = post(commtask_op_recv(&got[i], 1, MPI_INT, left(), 4, comm_));
    EXPECT_EQ(end(task), COMMTASK_OK);
    for (commtask_t& each : receives) EXPECT_EQ(finish(each), COMMTASK_OK);
    for (const int each : got) EXPECT_EQ(each, left());
}

TEST_F(ReusedLists, OfManyToMany) {
    const std::array mine{10 * rank_, 10 * rank_ + 1, 10 * rank_ + 2};
    std::array theirs{-1, -1, -1};
    std::array<int, 1> dests{right()};
    std::array<int, 1> sources{left()};
    std::array<MPI_Count, 1> send_counts{2};
    std::array<MPI_Count, 1> recv_counts{2};
    std::array<MPI_Aint, 1> send_displs{1};
    std::array<MPI_Aint, 1> recv_displs{0};
    commtask_t task = post(commtask_op_many_to_many(mine.data(), send_counts.data(), send_displs.data(), MPI_INT,
                                                    dests.data(), 1, theirs.data(), recv_counts.data(),
                                                    recv_displs.data(), MPI_INT, sources.data(), 1, 5, comm_),
                           later());
    spoil(dests);
    spoil(sources);
    spoil(send_counts);
    spoil(recv_counts);
    spoil(send_displs);
    spoil(recv_displs);
    EXPECT_EQ(end(task), COMMTASK_OK);
    EXPECT_EQ(theirs, (std::array{10 * left() + 1, 10 * left() + 2, -1}));
}

TEST_F(ReusedLists, OfCollectivesWithCounts) {
    const auto n_ranks = static_cast<std::size_t>(n_ranks_);
    std::vector<int> all(n_ranks, -1);
    std::vector<int> counts(n_ranks, 1);
    std::vector<int> displs(n_ranks);
    std::iota(displs.rbegin(), displs.rend(), 0); // the last one first
    commtask_t task = post(
        commtask_op_gatherv_int(&rank_, 1, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, last(), comm_),
        later());
    spoil(counts);
    spoil(displs);
    EXPECT_EQ(end(task), COMMTASK_OK);
    for (int i = 0; rank_ == last() && i < n_ranks_; ++i) EXPECT_EQ(all[static_cast<std::size_t>(n_ranks_ - 1 - i)], i);
}

TEST_F(ReusedLists, OfAReduceScatter) {
    std::vector<int> contribution(static_cast<std::size_t>(n_ranks_) * 2);
    std::iota(contribution.begin(), contribution.end(), 0);
    std::vector<MPI_Count> counts(static_cast<std::size_t>(n_ranks_), 2);
    std::array part{-1, -1};
    commtask_t task = post(
        commtask_op_reduce_scatter(contribution.data(), part.data(), counts.data(), MPI_INT, MPI_SUM, comm_), later());
    spoil(counts);
    EXPECT_EQ(end(task), COMMTASK_OK);
    EXPECT_EQ(part, (std::array{n_ranks_ * 2 * rank_, n_ranks_ * (2 * rank_ + 1)}));
}

TEST_F(ReusedLists, OfALongManyToMany) {
    constexpr std::size_t n = 100;
    std::vector<MPI_Count> counts(n, 1);
    std::vector<MPI_Aint> displs(n);
    std::vector<int> dests(n, right());
    std::vector<int> sources(n, left());
    std::iota(displs.begin(), displs.end(), 0);
    std::vector<int> mine(n);
    std::vector<int> theirs(n);
    std::iota(mine.begin(), mine.end(), 1000 * rank_);
    commtask_t task = post(commtask_op_many_to_many(mine.data(), counts.data(), displs.data(), MPI_INT, dests.data(), n,
                                                    theirs.data(), counts.data(), displs.data(), MPI_INT,
                                                    sources.data(), n, 7, comm_),
                           later());
    spoil(counts);
    spoil(displs);
    spoil(dests);
    spoil(sources);
    EXPECT_EQ(end(task), COMMTASK_OK);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(theirs[i], 1000 * left() + static_cast<int>(i));
}

/// Of seventeen: too many to be copied. A graph with so many edges between two ranks has them on any number of ranks.
class LongListsThatChange : public ReusedLists {
protected:
    static constexpr int n_edges = 17;
    void SetUp() override {
        ReusedLists::SetUp();
        const char* const checks = std::getenv("COMMTASK_CHECK");
        if (checks == nullptr || *checks != '1') GTEST_SKIP() << "mpi.freed.checked";
        std::array<int, n_edges> from{};
        std::array<int, n_edges> to{};
        from.fill(left());
        to.fill(right());
        ASSERT_EQ(MPI_Dist_graph_create_adjacent(comm_, n_edges, from.data(), MPI_UNWEIGHTED, n_edges, to.data(),
                                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
                  MPI_SUCCESS);
        counts_.fill(1);
        std::iota(displs_.begin(), displs_.end(), 0);
        std::iota(mine_.begin(), mine_.end(), 100 * rank_);
    }
    void TearDown() override {
        if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
        ReusedLists::TearDown();
    }
    [[nodiscard]] commtask_t post_exchange() {
        return post(commtask_op_neighbor_alltoallv_int(mine_.data(), counts_.data(), displs_.data(), MPI_INT,
                                                       theirs_.data(), counts_.data(), displs_.data(), MPI_INT, graph_),
                    later());
    }
    void expect_all() const {
        for (int i = 0; i < n_edges; ++i) EXPECT_EQ(theirs_[static_cast<std::size_t>(i)], 100 * left() + i);
    }
    MPI_Comm graph_ = MPI_COMM_NULL;
    std::array<int, n_edges> counts_{}, displs_{}, mine_{}, theirs_{};
};

TEST_F(LongListsThatChange, FailTheTaskAndAreNamed) {
    commtask_t task = post_exchange();
    displs_[16] = 3;
    testing::internal::CaptureStderr();
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(end(task, &status), COMMTASK_FAILED);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(status.error_class, MPI_ERR_ARG);
    EXPECT_NE(said.find("neighbor_alltoallv"), std::string::npos) << said;
    EXPECT_NE(said.find("displs[16] from 16 to 3"), std::string::npos) << said;
    expect_all();
}

TEST_F(LongListsThatChange, ButThoseThatStayDoNot) {
    commtask_t task = post_exchange();
    EXPECT_EQ(end(task), COMMTASK_OK);
    expect_all();
}

} // namespace
} // namespace commtask::test
