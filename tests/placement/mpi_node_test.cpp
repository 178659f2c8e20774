// SPDX-License-Identifier: Apache-2.0
//
// 1, 2 and 4 ranks on this machine agree on the map of workers, and their counters reach the root. What the map looks
// like depends on the machine, so only what must hold everywhere is checked; exact maps are in placement_test.cpp.
#include "node/affinity.hpp"
#include "node/node_map.hpp"
#include "report/gather.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace commtask::detail {
namespace {

class NodeExchange : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), MPI_SUCCESS);
        ASSERT_EQ(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), MPI_SUCCESS);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &n_ranks_);
    }
    void TearDown() override { ASSERT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS); }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = -1;
    int n_ranks_ = 0;
};

TEST_F(NodeExchange, BringsTextsOfDifferentLengthsInTheOrderOfRanks) {
    const auto text_of = [](int rank) { return std::string(static_cast<std::size_t>(rank) * 100, 'x'); };
    const text_exchange result = collective_exchange_on_node(comm_, text_of(rank_));
    ASSERT_FALSE(result.failure) << *result.failure;
    ASSERT_EQ(result.texts.size(), static_cast<std::size_t>(n_ranks_)) << "all ranks of this test share a node";
    EXPECT_EQ(result.me, static_cast<std::size_t>(rank_));
    for (int rank = 0; rank < n_ranks_; ++rank) EXPECT_EQ(result.texts[static_cast<std::size_t>(rank)], text_of(rank));
}

TEST_F(NodeExchange, GivesEveryRankTheSameMapAndNoCpuTwoWorkers) {
    const config settings;
    const node_map map = collective_map_node(comm_, settings, process_cpus());
    ASSERT_FALSE(map.failure) << *map.failure;
    ASSERT_EQ(map.placements.size(), static_cast<std::size_t>(n_ranks_));
    std::string as_text;
    std::set<int> used;
    for (const rank_placement& place : map.placements) {
        const int cpu = place.lane_cpus.at(0);
        EXPECT_TRUE(cpu == no_cpu || used.insert(cpu).second);
        as_text += std::to_string(cpu) + ' ' + place.compute_cpus.text() + ' ' + place.reason + '\n';
    }
    const text_exchange maps = collective_exchange_on_node(comm_, as_text);
    for (const std::string& other : maps.texts) EXPECT_EQ(other, as_text);
    EXPECT_EQ(map.requests.at(map.me).cpus, process_cpus());
}

TEST_F(NodeExchange, SharesWhenTheOthersAreNotKnown) {
    // A call without a communicator obeys the handler of MPI_COMM_WORLD or MPI_COMM_SELF.
    MPI_Errhandler world_handler = MPI_ERRHANDLER_NULL;
    MPI_Errhandler self_handler = MPI_ERRHANDLER_NULL;
    ASSERT_EQ(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world_handler), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_get_errhandler(MPI_COMM_SELF, &self_handler), MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const node_map map = collective_map_node(MPI_COMM_NULL, config{}, process_cpus());
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world_handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self_handler);
    MPI_Errhandler_free(&world_handler);
    MPI_Errhandler_free(&self_handler);
    ASSERT_TRUE(map.failure);
    EXPECT_NE(map.failure->find("MPI_Comm_split_type failed: "), std::string::npos) << *map.failure;
    ASSERT_EQ(map.placements.size(), 1U);
    EXPECT_EQ(map.placements[0].lane_cpus.at(0), no_cpu);
    EXPECT_EQ(map.placements[0].idle, idle_policy::shared);
}

lane_stats counters_of(int rank) {
    lane_stats mine;
    mine.tasks[3] = 100 + static_cast<std::uint64_t>(rank);
    mine.worker_sleeps = static_cast<std::uint64_t>(rank); // the last word
    return mine;
}

void expect_first_ranks(const gathered_stats& found, int n_expected) {
    ASSERT_EQ(found.stats.size(), static_cast<std::size_t>(n_expected));
    for (int rank = 0; rank < n_expected; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        EXPECT_EQ(found.ranks[at], rank);
        EXPECT_EQ(found.stats[at].tasks[3], 100 + at);
        EXPECT_EQ(found.stats[at].worker_sleeps, at);
    }
}

TEST_F(NodeExchange, GathersTheCountersOfAllRanks) {
    const gathered_stats all = gather_stats(comm_, 1, {counters_of(rank_)}, 60'000'000'000);
    EXPECT_EQ(all.n_ranks, n_ranks_);
    expect_first_ranks(all, rank_ == 0 ? n_ranks_ : 0);
}

TEST_F(NodeExchange, GathersTheCountersOfEachLane) {
    std::vector<lane_stats> mine(3, counters_of(rank_));
    for (std::size_t lane = 0; lane < mine.size(); ++lane) mine[lane].failed = lane;
    const gathered_stats all = gather_stats(comm_, 3, mine, 60'000'000'000);
    if (rank_ != 0) return;
    ASSERT_EQ(all.stats.size(), 3 * static_cast<std::size_t>(n_ranks_));
    for (std::size_t i = 0; i < all.stats.size(); ++i) {
        EXPECT_EQ(all.stats[i].tasks[3], 100 + i / 3);
        EXPECT_EQ(all.stats[i].failed, i % 3);
    }
}

TEST_F(NodeExchange, GathersWithoutARankThatSaysNothing) {
    constexpr std::uint64_t patience_ns = 50'000'000;
    gathered_stats found;
    const bool is_silent = rank_ == n_ranks_ - 1 && rank_ != 0;
    if (rank_ != 0 && !is_silent) found = gather_stats(comm_, 2, {counters_of(rank_)}, patience_ns);
    MPI_Barrier(comm_); // the others have spoken
    if (rank_ == 0) found = gather_stats(comm_, 2, {counters_of(0)}, patience_ns);
    expect_first_ranks(found, rank_ == 0 ? std::max(1, n_ranks_ - 1) : 0);
}

} // namespace
} // namespace commtask::detail
