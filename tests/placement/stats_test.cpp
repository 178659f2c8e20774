// SPDX-License-Identifier: Apache-2.0
//
// Counters and their table: bins, quantiles, sums over ranks, additions from many threads. The quantiles are coarse by
// design (powers of two), and the tests say how coarse.
#include "report/stats_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <thread>
#include <vector>

namespace commtask::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TimeDistribution, SortsTimesIntoPowersOfTwo) {
    EXPECT_EQ(time_distribution::bin_of(0), 0U);
    EXPECT_EQ(time_distribution::bin_of(1), 1U);
    EXPECT_EQ(time_distribution::bin_of(3), 2U);
    EXPECT_EQ(time_distribution::bin_of(4), 3U);
    EXPECT_EQ(time_distribution::bin_of(~std::uint64_t{0}), time_distribution::bin_count - 1);
}

TEST(TimeDistribution, KnowsMeanLongestAndQuantilesWithinAFactorOfTwo) {
    time_distribution times;
    EXPECT_EQ(times.mean_ns(), 0.0);
    EXPECT_EQ(times.approx_quantile_ns(0.99), 0U);
    for (std::uint64_t time = 1; time <= 1000; ++time) times.add(time);
    EXPECT_EQ(times.count, 1000U);
    EXPECT_EQ(times.mean_ns(), 500.5);
    EXPECT_EQ(times.longest_ns, 1000U);
    EXPECT_EQ(times.approx_quantile_ns(0.5), 511U);
    EXPECT_EQ(times.approx_quantile_ns(0.99), 1000U) << "never above the longest";
    times.add(~std::uint64_t{0} >> 1);
    EXPECT_EQ(times.approx_quantile_ns(1.0), ~std::uint64_t{0} >> 1);
}

TEST(TimeDistribution, MergesAsIfAllTimesHadBeenAddedToOne) {
    time_distribution left, right, both;
    for (std::uint64_t time : {5U, 70U, 900U}) {
        left.add(time);
        both.add(time);
    }
    for (std::uint64_t time : {1U, 2000U}) {
        right.add(time);
        both.add(time);
    }
    left.merge(right);
    EXPECT_EQ(std::memcmp(&left, &both, sizeof both), 0);
}

TEST(SharedTimeDistribution, LosesNoAdditionOfAnyThread) {
    shared_time_distribution shared;
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t id = 0; id < 4; ++id)
            threads.emplace_back([&shared, id] {
                for (std::uint64_t i = 0; i < 1000; ++i) shared.add(id * 1000 + i);
            });
    }
    const time_distribution all = shared.snapshot();
    EXPECT_EQ(all.count, 4000U);
    EXPECT_EQ(all.sum_ns, 3999U * 4000U / 2);
    EXPECT_EQ(all.longest_ns, 3999U);
    std::uint64_t in_bins = 0;
    for (const std::uint64_t bin : all.bins) in_bins += bin;
    EXPECT_EQ(in_bins, 4000U);
}

TEST(Stats, AddUpOverRanks) {
    lane_stats a, b;
    a.tasks[2] = 3;
    b.tasks[2] = 4;
    b.bytes[2] = 10;
    a.failed = 1;
    b.worker_busy_ns = 5;
    b.in_flight.add(8);
    a.merge(b);
    EXPECT_EQ(a.tasks[2], 7U);
    EXPECT_EQ(a.bytes[2], 10U);
    EXPECT_EQ(a.failed, 1U);
    EXPECT_EQ(a.worker_busy_ns, 5U);
    EXPECT_EQ(a.in_flight.count, 1U);
}

TEST(Stats, PrintALinePerRankTheirSumAndTheKinds) {
    constexpr std::array<std::string_view, 2> names{"send", "recv"};
    std::vector<lane_stats> ranks(2);
    ranks[0].tasks[0] = 10;
    ranks[0].bytes[0] = 2048;
    ranks[0].worker_busy_ns = 25;
    ranks[0].worker_life_ns = 100;
    ranks[0].post.add(1500);
    ranks[1].tasks[1] = 5;
    ranks[1].tasks[9] = 1;
    ranks[1].canceled = 1;
    ranks[1].worker_life_ns = 100;
    const std::string table = format_stats(ranks, std::vector{0, 1}, 2, names);
    EXPECT_THAT(table, HasSubstr("statistics of 2 ranks"));
    EXPECT_THAT(table, HasSubstr("25.0 %"));
    EXPECT_THAT(table, HasSubstr("12.5 %")) << "both workers' busy time over both lives";
    EXPECT_THAT(table, HasSubstr("1.50/1.50/1.50"));
    EXPECT_THAT(table, HasSubstr("     0  send 10 (2.0 KiB)\n"));
    EXPECT_THAT(table, HasSubstr("     1  recv 5, kind 9 1\n"));
    EXPECT_THAT(table, HasSubstr("   all  send 10 (2.0 KiB), recv 5, kind 9 1\n"));
    std::istringstream lines{table};
    std::string header, head, rank_0;
    std::getline(lines, header);
    std::getline(lines, head);
    std::getline(lines, rank_0);
    EXPECT_EQ(head.size(), rank_0.size()) << "columns stand under their heads\n" << table;
}

TEST(Stats, PrintWhatWokeEachWorker) {
    std::vector<lane_stats> ranks(2);
    ranks[0].worker_used_ns = 12'500'000;
    ranks[0].worker_sleeps = 3;
    ranks[0].worker_timed_waits = 40;
    ranks[0].worker_rung = 5;
    ranks[1].rang = 5;
    const std::string table = format_stats(ranks, std::vector{0, 1}, 2, {});
    EXPECT_THAT(table, HasSubstr("  rank      worker us  blocks   waits   rung   rang\n"
                                 "     0          12500       3      40      5      0\n"
                                 "     1           0.00       0       0      0      5\n"
                                 "   all          12500       3      40      5      5\n"));
}

TEST(Stats, SayWhatEachColumnMeans) {
    const std::string table = format_stats(std::vector<lane_stats>(1), std::vector{0}, 1, {});
    std::istringstream lines{table};
    std::string heads; // of both tables
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  rank ")) heads += line;
    }
    for (const stats_column& column : stats_columns()) {
        EXPECT_THAT(heads, HasSubstr(std::string{column.name}));
        EXPECT_THAT(table, HasSubstr(std::string{column.meaning} + "\n"));
    }
}

TEST(Stats, PrintEvenWhenNothingHappened) {
    const std::string table = format_stats(std::vector<lane_stats>(1), std::vector{0}, 1, {});
    EXPECT_THAT(table, HasSubstr("statistics of 1 rank;"));
    EXPECT_THAT(table, HasSubstr("     0  none\n"));
}

TEST(Stats, PrintALineForEachLaneOfARank) {
    std::vector<lane_stats> lanes(4);
    lanes[1].tasks[0] = 7;
    lanes[2].tasks[0] = 2;
    constexpr std::array<std::string_view, 1> names{"send"};
    const std::string table = format_stats(lanes, std::vector{0, 5}, 6, names);
    EXPECT_THAT(table, HasSubstr("statistics of 2 ranks of 6; the others"));
    EXPECT_THAT(table, HasSubstr("a line for each of their 2 lanes, as rank.lane"));
    EXPECT_THAT(table, HasSubstr("\n   0.1  send 7\n"));
    EXPECT_THAT(table, HasSubstr("\n   5.0  send 2\n"));
    EXPECT_THAT(table, HasSubstr("\n   5.1  none\n"));
    EXPECT_THAT(table, HasSubstr("\n   all  send 9\n"));
}

TEST(Stats, SayWhoseTheyAreIfSomeRanksAreMissing) {
    const std::string table = format_stats(std::vector<lane_stats>(1), std::vector{3}, 4, {});
    EXPECT_THAT(table, HasSubstr("statistics of 1 rank of 4; the others"));
    EXPECT_THAT(table, HasSubstr("     3  none\n"));
}

} // namespace
} // namespace commtask::detail
