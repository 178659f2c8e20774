// SPDX-License-Identifier: Apache-2.0
//
// How many lanes a burst gets, from tables whose best answers can be seen with the naked eye; and what is wrong with tables. How
// good the answers are on networks is the test unit.lane_simulation.
#include "core/lane_policy.hpp"
#include "report/lane_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace commtask::detail {
namespace {

using testing::HasSubstr;

/// Contexts of 1000 ns a message side by side, up to `n_independent`; what is more brings nothing. Large messages fill the network
/// from one.
[[nodiscard]] saturation_table contexts(unsigned n_independent, unsigned most_lanes = 8) {
    saturation_table table{"a test", 50, 100, 2000, {}};
    for (const std::size_t size_bytes : {8U, 4096U, 65536U}) {
        size_costs row{size_bytes, {}};
        for (unsigned n_lanes = 1; n_lanes <= most_lanes; ++n_lanes) {
            const unsigned side_by_side = size_bytes == 65536 ? 1 : std::min(n_lanes, n_independent);
            const double alone_ns = size_bytes == 65536 ? 6000 : 1000;
            row.lanes.push_back({n_lanes, 2000 + 100.0 * n_lanes, alone_ns / side_by_side});
        }
        table.rows.push_back(row);
    }
    return table;
}

[[nodiscard]] unsigned lanes_for(const saturation_table& table, std::size_t size_bytes, std::size_t n_messages,
                                 unsigned most) {
    return choose_lanes(table, {size_bytes, n_messages}, most).n_lanes;
}

TEST(LanePolicy, TakesAsManyLanesAsSaturateTheNetworkAndNoMore) {
    EXPECT_EQ(lanes_for(contexts(4), 8, 128, 8), 4U);
    EXPECT_EQ(lanes_for(contexts(2), 8, 128, 8), 2U);
    EXPECT_EQ(lanes_for(contexts(1), 8, 128, 8), 1U) << "where lanes take turns there is one";
}

TEST(LanePolicy, NeverTakesMoreLanesThanThereAreOrMessages) {
    for (unsigned most = 1; most <= 8; ++most) EXPECT_EQ(lanes_for(contexts(8), 8, 1024, most), most);
    EXPECT_EQ(lanes_for(contexts(8), 8, 1, 8), 1U);
    EXPECT_LE(lanes_for(contexts(8), 8, 3, 8), 3U);
}

TEST(LanePolicy, KnowsNothingOfMoreLanesThanWereMeasured) { EXPECT_EQ(lanes_for(contexts(8, 3), 8, 1024, 16), 3U); }

TEST(LanePolicy, LeavesLargeMessagesTogether) {
    EXPECT_EQ(lanes_for(contexts(8), 65536, 128, 8), 1U);
    EXPECT_EQ(lanes_for(contexts(8), 1U << 20U, 128, 8), 1U) << "larger than all that was measured";
}

TEST(LanePolicy, TakesSeveralBetweenTwoSizesThatWereMeasured) { EXPECT_EQ(lanes_for(contexts(4), 1000, 128, 8), 4U); }

TEST(LanePolicy, LeavesALaneOutThatBringsNextToNothing) {
    saturation_table table = contexts(8);
    for (size_costs& row : table.rows) {
        for (lane_cost& cost : row.lanes) cost.each_ns = cost.n_lanes == 1 ? 1000 : 500 - cost.n_lanes;
    }
    EXPECT_EQ(lanes_for(table, 8, 128, 8), 2U);
}

/// The same network, with messages so short that the submitter is what limits.
[[nodiscard]] saturation_table short_messages() {
    saturation_table table = contexts(4);
    for (lane_cost& cost : table.rows.front().lanes) cost.each_ns /= 5;
    return table;
}

TEST(LanePolicy, PutsMessagesInARowWhereTheChangeOfLanesIsWhatLimits) {
    EXPECT_EQ(choose_lanes(contexts(4), {8, 128}, 4).in_row, 1U) << "the submitter has time for a change each";
    EXPECT_GE(choose_lanes(short_messages(), {8, 128}, 4).in_row, 4U);
    EXPECT_LE(choose_lanes(short_messages(), {8, 4}, 4).in_row, 2U) << "or the other lanes would have nothing";
    for (std::size_t n_messages = 1; n_messages <= 300; ++n_messages) {
        const lane_choice choice = choose_lanes(short_messages(), {8, n_messages}, 8);
        EXPECT_LT(choice.in_row * (choice.n_lanes - 1), n_messages) << "no lane is chosen for nothing";
    }
}

TEST(LanePolicy, AnswersForABurstOfAnyLength) {
    for (const std::size_t n_messages : {std::size_t{1} << 20U, std::numeric_limits<std::size_t>::max()}) {
        const lane_choice choice = choose_lanes(short_messages(), {8, n_messages}, 8);
        EXPECT_EQ(choice.n_lanes, 4U);
        EXPECT_GE(choice.in_row, 1U);
    }
}

TEST(LanePolicy, NeverPutsCollectivesInARow) {
    EXPECT_EQ(choose_lanes(short_messages(), {8, 128, burst_kind::collectives}, 4).in_row, 1U);
    EXPECT_EQ(choose_lanes(contexts(4), {8, 128, burst_kind::collectives}, 4).n_lanes, 4U);
}

TEST(LanePolicy, SaysHowManyInFlightKeepALaneBusy) {
    saturation_table table = contexts(1);
    table.round_trip_ns = 20'000;
    EXPECT_EQ(choose_lanes(table, {8, 128}, 1).in_flight, 42U)
        << "20 that are on their way, one that is taken in; twice";
    table.round_trip_ns = 0;
    EXPECT_EQ(choose_lanes(table, {8, 128}, 1).in_flight, 4U);
}

TEST(LanePolicy, HasATableOfItsOwnThatSpreadsOnlyLongBurstsOfSmallMessages) {
    const saturation_table table = default_table();
    EXPECT_EQ(why_not_usable(table), "");
    EXPECT_EQ(lanes_for(table, 8, 2, 8), 1U);
    EXPECT_GE(lanes_for(table, 8, 128, 8), 2U);
    EXPECT_LE(lanes_for(table, 8, 128, 8), 4U);
    EXPECT_EQ(lanes_for(table, 1U << 20U, 128, 8), 1U);
}

TEST(LaneTable, IsReadAsItWasWritten) {
    const lane_tables tables{contexts(3), contexts(2), contexts(4)};
    const std::string text = text_of(tables, "MPICH 4.0.2");
    const lane_table_file read = lane_table_of(text);
    ASSERT_EQ(read.why_not, "");
    EXPECT_EQ(read.tables.messages.machine, "a test");
    EXPECT_EQ(text_of(read.tables, "MPICH 4.0.2"), text);
    EXPECT_EQ(read.mpi, "MPICH 4.0.2");
    EXPECT_EQ(read.sum, lane_table_of(text).sum);
    EXPECT_NE(read.sum, lane_table_of(text_of(tables, "MPICH 5")).sum);
    EXPECT_GE(read.sum, 0);
}

TEST(LaneTable, HasPutsJudgedLikeMessagesIfNoneWereMeasured) {
    const lane_table_file both = lane_table_of(text_of({contexts(4), contexts(2), {}}, ""));
    EXPECT_EQ(choose_lanes(both.tables, {8, 128}, 8).n_lanes, 4U);
    EXPECT_EQ(choose_lanes(both.tables, {8, 128, burst_kind::puts}, 8).n_lanes, 2U);
    const lane_table_file messages = lane_table_of(text_of({contexts(4), {}, {}}, ""));
    EXPECT_EQ(choose_lanes(messages.tables, {8, 128, burst_kind::puts}, 8).n_lanes, 4U);
}

TEST(LaneTable, GivesCollectivesOneLaneIfNoneWereMeasured) {
    const message_burst burst{4096, 64, burst_kind::collectives};
    const lane_table_file without = lane_table_of(text_of({contexts(4), contexts(4), {}}, ""));
    EXPECT_EQ(choose_lanes(without.tables, burst, 8).n_lanes, 1U);
    EXPECT_GE(choose_lanes(without.tables, burst, 8).in_flight, 1U);
    const lane_table_file with = lane_table_of(text_of({contexts(4), {}, contexts(2)}, ""));
    EXPECT_EQ(choose_lanes(with.tables, burst, 8).n_lanes, 2U);
    EXPECT_EQ(choose_lanes(with.tables, burst, 8).in_row, 1U);
    EXPECT_EQ(choose_lanes({default_table(), default_table(), {}}, burst, 8).n_lanes, 1U);
}

TEST(LaneTable, IsRefusedWithTheReason) {
    EXPECT_THAT(lane_table_of("{").why_not, HasSubstr("parse error"));
    EXPECT_THAT(lane_table_of("{}").why_not, HasSubstr("'machine' not found"));
    EXPECT_THAT(read_lane_table("/no/such/file").why_not, HasSubstr("No such file"));
    for (const char* endless : {"/dev/zero", "/"}) EXPECT_EQ(read_lane_table(endless).why_not, "it is no regular file");
    saturation_table table = contexts(2);
    table.rows[1].size_bytes = 8;
    EXPECT_THAT(lane_table_of(text_of({table, {}, {}}, "")).why_not,
                HasSubstr("the row of 8 bytes is not larger than the row before"));
    table = contexts(2);
    table.rows[0].lanes.erase(table.rows[0].lanes.begin());
    EXPECT_THAT(lane_table_of(text_of({table, {}, {}}, "")).why_not, HasSubstr("does not begin with one lane"));
    table = contexts(2);
    table.rows[2].lanes[3].each_ns = 0;
    EXPECT_THAT(lane_table_of(text_of({table, {}, {}}, "")).why_not, HasSubstr("the row of 65536 bytes must have"));
    table.rows.clear();
    EXPECT_THAT(lane_table_of(text_of({table, {}, {}}, "")).why_not, HasSubstr("no rows"));
    table = contexts(2);
    table.switch_ns = -1;
    EXPECT_THAT(lane_table_of(text_of({contexts(2), table, {}}, "")).why_not, HasSubstr("of its puts: post_ns"));
    EXPECT_THAT(lane_table_of(text_of({contexts(2), {}, table}, "")).why_not, HasSubstr("of its collectives: post_ns"));
}

} // namespace
} // namespace commtask::detail
