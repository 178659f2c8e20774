// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic behind every figure: quantiles and paired ratios on lists small enough to check by hand. An error
// here would be in every result and be seen in none.
#include "harness/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commtask::bench {
namespace {

using ::testing::ElementsAre;

TEST(Quantile, LiesLinearlyBetweenNeighbours) {
    const std::vector<double> sorted{10, 20, 30, 40, 50};
    EXPECT_DOUBLE_EQ(quantile(sorted, 0), 10);
    EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 30);
    EXPECT_DOUBLE_EQ(quantile(sorted, 0.1), 14);
    EXPECT_DOUBLE_EQ(quantile(sorted, 0.99), 49.6);
    EXPECT_DOUBLE_EQ(quantile(sorted, 1), 50);
}

TEST(Quantile, OfOneSampleIsThatSample) {
    const std::vector<double> one{7};
    EXPECT_DOUBLE_EQ(quantile(one, 0.99), 7);
}

TEST(Summary, SortsTheSamplesItself) {
    const summary seen = summarize({3, 1, 2});
    EXPECT_DOUBLE_EQ(seen.median, 2);
    EXPECT_DOUBLE_EQ(seen.p10, 1.2);
    EXPECT_DOUBLE_EQ(seen.p90, 2.8);
    EXPECT_EQ(seen.n_samples, 3U);
}

TEST(Summary, OfNothingIsZeroAndSaysSo) {
    const summary seen = summarize({});
    EXPECT_EQ(seen.n_samples, 0U);
    EXPECT_DOUBLE_EQ(seen.median, 0);
}

TEST(PairedRatios, DivideMediansRoundByRoundSoThatDriftCancels) {
    const std::vector<round_samples> side{{2, 2, 2}, {20, 20, 20}};
    const std::vector<round_samples> reference{{1, 1, 9}, {10, 10, 90}};
    EXPECT_THAT(paired_ratios(side, reference), ElementsAre(2, 2));
}

TEST(PairedRatios, LeaveOutRoundsThatCannotBeCompared) {
    const std::vector<round_samples> side{{2}, {}, {6}};
    const std::vector<round_samples> reference{{0}, {1}, {3}};
    EXPECT_THAT(paired_ratios(side, reference), ElementsAre(2));
}

TEST(Pooled, KeepsEverySampleOfEveryRound) {
    const std::vector<round_samples> rounds{{1, 2}, {}, {3}};
    EXPECT_THAT(pooled(rounds), ElementsAre(1, 2, 3));
}

} // namespace
} // namespace commtask::bench
