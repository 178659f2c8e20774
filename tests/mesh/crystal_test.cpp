// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one patch against what is known of it: patches have all ions once, pairs beyond the cutoff of neighbours do not
// matter, and B-splines are weights whose derivatives are those of their values.
#include "crystal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mesh {
namespace {

TEST(Crystal, HasEachIonInOnePatch) {
    for (const std::array<int, 3>& grid : {std::array{1, 1, 1}, std::array{1, 2, 3}, std::array{5, 1, 2}}) {
        const crystal of{.kind = 0, .cells = 5, .displacement = 0.1, .grid = grid};
        std::vector<long long> numbers;
        double charge = 0;
        for (int rank = 0; rank < grid[0] * grid[1] * grid[2]; ++rank) {
            std::vector<long long> mine;
            for (const ion& each : of.ions(rank, &mine)) {
                charge += each.charge;
                for (int d = 0; d < 3; ++d) {
                    EXPECT_GE(each.at[d], of.bounds(rank, d)[0] - of.displacement);
                    EXPECT_LE(each.at[d], of.bounds(rank, d)[1] + of.displacement);
                }
            }
            numbers.insert(numbers.end(), mine.begin(), mine.end());
        }
        std::ranges::sort(numbers);
        EXPECT_EQ(numbers.size(), 1000U);
        EXPECT_TRUE(std::ranges::adjacent_find(numbers) == numbers.end());
        EXPECT_EQ(numbers.back(), 999);
        EXPECT_EQ(charge, 0);
    }
}

TEST(Crystal, LeavesOutOnlyImagesThatHaveNoIonWithinReach) {
    const crystal of{.kind = 1, .cells = 4, .displacement = 0.05, .grid = {2, 2, 1}};
    for (int other = 0; other < 4; ++other) {
        const std::vector<vec> near = of.images(0, other, 1.5);
        for (int k = 0; k < 27; ++k) {
            const vec shift{4.0 * (k % 3 - 1), 4.0 * (k / 3 % 3 - 1), 4.0 * (k / 9 - 1)};
            double nearest = 100;
            for (const ion& a : of.ions(0)) {
                for (const ion& b : of.ions(other)) {
                    nearest = std::min(nearest, std::hypot(a.at[0] - b.at[0] - shift[0], a.at[1] - b.at[1] - shift[1],
                                                           a.at[2] - b.at[2] - shift[2]));
                }
            }
            if (nearest < 1.5) EXPECT_TRUE(std::ranges::find(near, shift) != near.end()) << other << ' ' << k;
        }
        EXPECT_LT(near.size(), 27U);
    }
}

TEST(Spline, IsOfWeightsThatReproduceAnyLine) {
    for (const int order : {4, 6, 8, most_order}) {
        for (const double fraction : {0.0, 0.25, 0.9}) {
            const spline at(order, fraction);
            const spline beyond(order, fraction + 1e-6);
            double sum = 0;
            double mean = 0;
            for (int j = 0; j < order; ++j) {
                sum += at.value[j];
                mean += at.value[j] * (fraction + j);
                EXPECT_GE(at.value[j], 0);
                EXPECT_NEAR((beyond.value[j] - at.value[j]) / 1e-6, at.slope[j], 1e-5);
            }
            EXPECT_NEAR(sum, 1, 1e-14);
            EXPECT_NEAR(mean, order / 2.0, 1e-13);
        }
    }
}

} // namespace
} // namespace mesh
