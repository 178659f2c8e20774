// SPDX-License-Identifier: Apache-2.0
//
// What the policy is worth, in virtual time: on three networks, with 1 to 24 lanes, from 8 B to 64 KiB and for bursts of 1 to 128 it
// is within a tenth of the best that any number of lanes and any row reach, and never slower than one lane.
#include "simulated_lanes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace commtask::bench {
namespace {

[[nodiscard]] std::string text_of(const network& over, std::size_t size, std::size_t burst, std::size_t limit) {
    return over.name + ", " + std::to_string(size) + " B, burst of " + std::to_string(burst) + ", " +
           std::to_string(limit) + " lanes";
}

TEST(LaneSimulation, FindsThePolicyWithinATenthOfTheBestAndNeverBelowOneLane) {
    for (const network& over : three_networks()) {
        const detail::saturation_table table = calibrated(over, most_simulated_lanes);
        ASSERT_EQ(detail::why_not_usable(table), "");
        for (const std::size_t size : simulated_sizes()) {
            for (const std::size_t burst : simulated_bursts()) {
                std::size_t limit = 0;
                for (const comparison& found : compare(over, table, {size, burst}, most_simulated_lanes)) {
                    ++limit;
                    ASSERT_LE(found.policy.n_lanes, limit);
                    ASSERT_LE(found.policy_ns, 1.1 * found.best_ns) << text_of(over, size, burst, limit);
                    ASSERT_LE(found.policy_ns, found.one_lane_ns) << text_of(over, size, burst, limit);
                }
            }
        }
    }
}

TEST(LaneSimulation, GainsWhereContextsAreSlowAndSaturatesWhereTheyAreInEachOthersWay) {
    const auto rate = [](const network& over, unsigned n_lanes) { return 1 / burst_ns(over, {8, 1024}, {n_lanes, 4}); };
    const network& slow_contexts = three_networks()[0];
    EXPECT_GT(rate(slow_contexts, 4), 3.5 * rate(slow_contexts, 1));
    const network& with_a_lock = three_networks()[1];
    EXPECT_LT(rate(with_a_lock, 24), rate(with_a_lock, 4))
        << "more lanes must be able to be worse, or nothing is decided";
}

TEST(LaneSimulation, HoldsALaneBackThatHasItsNumberInFlight) {
    const network& over = three_networks()[0];
    const double free_ns = burst_ns(over, {8, 64}, {1, 1, 0});
    EXPECT_EQ(burst_ns(over, {8, 64}, {1, 1, 64}), free_ns);
    EXPECT_GT(burst_ns(over, {8, 64}, {1, 1, 1}), 2 * free_ns);
}

} // namespace
} // namespace commtask::bench
