// SPDX-License-Identifier: Apache-2.0
// A run that computed nothing has no wrong number in it: only its times tell. They cannot be had from a real run on
// purpose, so the verdict is asked directly; so is that on runs with other bits, whose real ones flip_test.py makes.
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

TEST(RunPrints, NameTheRunsThatHaveOtherBits) {
    run_prints prints;
    for (const unsigned each : {7U, 8U, 7U, 9U}) prints.add(each);
    const check found = prints.compare(7, "the plain exchange");
    EXPECT_FALSE(found.passed());
    EXPECT_EQ(found.name, "bits: timed run 2, 4 of 4 not as the plain exchange");
    EXPECT_EQ(prints.compare(8, "another").name, "bits: timed run 1, 3, 4 of 4 not as another");
    EXPECT_EQ(prints.compare().name, "bits: timed run 2, 4 of 4 not as the first");
    EXPECT_EQ(prints.nothing_changed().name, "messages: timed run 1, 2, 3, 4 of 4 not as they were sent");
}

TEST(RunPrints, PassWhereAllAreAlike) {
    run_prints prints;
    for (int k = 0; k < 3; ++k) prints.add(0);
    EXPECT_TRUE(prints.compare(0, "the first").passed());
    EXPECT_TRUE(prints.nothing_changed().passed());
    EXPECT_EQ(prints.nothing_changed().name, "messages: every timed run of 3 as they were sent");
}

TEST(MessageSums, LeaveSomethingWhereABitWasChanged) {
    for (int bit = 0; bit < 64; ++bit) {
        message_sums sums{.packed = 0x3ff8'0000'0000'0000U, .unpacked = 0};
        sums.unpacked = sums.packed ^ std::uint64_t{1} << bit;
        EXPECT_NE(sums.left(), 0U);
    }
}

} // namespace
