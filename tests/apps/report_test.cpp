// SPDX-License-Identifier: Apache-2.0
// A run that computed nothing has no wrong number in it: only its times tell. They cannot be had from a real run on
// purpose, so the verdict is asked directly.
#include "common/report.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace miniapp;

std::vector<timing> runs_of(const std::vector<double>& seconds) {
    std::vector<timing> runs;
    for (const double each : seconds) runs.push_back({{}, each});
    return runs;
}

TEST(TimePassed, WhenEveryRunAndTheSpeedArePositive) { EXPECT_TRUE(time_passed(runs_of({1e-9, 2.0}), 12.5).passed()); }

TEST(TimePassed, NotInARunOfNoTimeOrOfNone) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        EXPECT_FALSE(time_passed(runs_of({1.0, bad}), 12.5).passed()) << bad;
        EXPECT_FALSE(time_passed(runs_of({1.0}), bad).passed()) << bad;
    }
    EXPECT_FALSE(time_passed({}, 12.5).passed());
}

} // namespace
