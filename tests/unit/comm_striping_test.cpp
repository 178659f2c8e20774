// SPDX-License-Identifier: Apache-2.0
//
// How the neighbours of a rank fall to the lanes of a communicator that is striped by ranks and tags, on the grids that programs
// have: rings and periodic grids of two and three dimensions, on two, three and four lanes.
#include "core/comm_striping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace commtask::detail {
namespace {

using grid = std::vector<int>; ///< Ranks along each dimension, the first one's next to each other.

[[nodiscard]] int n_ranks_of(const grid& all) {
    int n_ranks = 1;
    for (const int length : all) n_ranks *= length;
    return n_ranks;
}

[[nodiscard]] std::set<int> neighbours_of(int rank, const grid& all) {
    std::set<int> found;
    int stride = 1;
    for (const int length : all) {
        const int place = rank / stride % length;
        for (const int step : {1, length - 1}) found.insert(rank + ((place + step) % length - place) * stride);
        stride *= length;
    }
    return found;
}

[[nodiscard]] std::size_t lane_of(int one, int other, int tag, std::size_t n_lanes) {
    return message_key{std::min(one, other), std::max(one, other), tag}.stripe_over(n_lanes);
}

/// How many neighbours the busiest lane of a rank has.
[[nodiscard]] int on_the_busiest(int rank, const grid& all, std::size_t n_lanes) {
    std::vector<int> n_on(n_lanes, 0);
    for (const int neighbour : neighbours_of(rank, all)) ++n_on[lane_of(rank, neighbour, 7, n_lanes)];
    return *std::ranges::max_element(n_on);
}

/// The mean over the ranks.
[[nodiscard]] double busiest_lane(const grid& all, std::size_t n_lanes) {
    double sum = 0;
    const int n_ranks = n_ranks_of(all);
    for (int rank = 0; rank < n_ranks; ++rank) sum += on_the_busiest(rank, all, n_lanes);
    return sum / n_ranks;
}

TEST(CommSpread, GivesTheTwoNeighboursInARingTwoLanes) {
    for (const int n_ranks : {4, 8, 12, 16, 64}) {
        for (int rank = 0; rank < n_ranks; ++rank)
            EXPECT_EQ(on_the_busiest(rank, {n_ranks}, 2), 1) << "rank " << rank << " of " << n_ranks;
        EXPECT_LE(busiest_lane({n_ranks}, 3), 1.25) << n_ranks;
        EXPECT_EQ(busiest_lane({n_ranks}, 4), 1) << n_ranks;
    }
    // Where the ring closes some rank may have both on one: with an odd number no two lanes do.
    for (const int n_ranks : {5, 6, 7, 9, 10, 11, 13, 14, 15})
        EXPECT_LE(n_ranks * busiest_lane({n_ranks}, 2), n_ranks + 2.5) << n_ranks;
}

TEST(CommSpread, GivesTheNeighboursInATwoDimensionalGridSeveralLanes) {
    for (const grid& all : {grid{4, 4}, grid{6, 4}, grid{8, 6}, grid{8, 8}, grid{16, 16}}) {
        EXPECT_LE(busiest_lane(all, 2), 2.7) << all[0] << " x " << all[1];
        EXPECT_LE(busiest_lane(all, 3), 2.3) << all[0] << " x " << all[1];
        EXPECT_LE(busiest_lane(all, 4), 2.3) << all[0] << " x " << all[1];
    }
}

TEST(CommSpread, GivesTheNeighboursInAThreeDimensionalGridSeveralLanes) {
    for (const grid& all : {grid{3, 3, 3}, grid{4, 4, 4}, grid{6, 4, 4}, grid{5, 5, 5}, grid{8, 8, 8}}) {
        EXPECT_LE(busiest_lane(all, 2), 4) << all[0] << " x " << all[1] << " x " << all[2];
        EXPECT_LE(busiest_lane(all, 3), 3.2) << all[0] << " x " << all[1] << " x " << all[2];
        EXPECT_LE(busiest_lane(all, 4), 2.8) << all[0] << " x " << all[1] << " x " << all[2];
    }
}

TEST(CommSpread, HasOtherLanesForSuccessiveTags) {
    for (const std::size_t n_lanes : {2U, 3U, 4U}) {
        for (const auto& [one, other] : {std::pair{0, 1}, std::pair{3, 3}, std::pair{2, 17}}) {
            std::set<std::size_t> seen;
            for (int tag = 0; tag < static_cast<int>(n_lanes); ++tag) seen.insert(lane_of(one, other, tag, n_lanes));
            EXPECT_EQ(seen.size(), n_lanes) << one << " and " << other;
        }
    }
}

TEST(CommSpread, GivesAnyTwoRanksALane) {
    for (const std::size_t n_lanes : {1U, 2U, 3U, 4U, 16U}) {
        for (const int rank : {0, 1, 1'000'000, 2'147'483'647}) {
            for (const int tag : {0, 2'147'483'647}) EXPECT_LT(lane_of(rank, 12, tag, n_lanes), n_lanes);
        }
    }
}

} // namespace
} // namespace commtask::detail
