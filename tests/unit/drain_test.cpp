// SPDX-License-Identifier: Apache-2.0
//
// How long commtask_finalize waits, told by times that the test makes up: no clock is read, so the limits are exact and hours
// cost nothing.
#include "core/drain.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

TEST(Drain, WaitsAMomentForSignalsWhereNothingIsAtWork) {
    drain_limit patience{30 * second_ns};
    EXPECT_FALSE(patience.is_over({100 * second_ns, 5, false}));
    EXPECT_FALSE(patience.is_over({100 * second_ns + tuning::longest_stall_ns - 1, 5, false}));
    EXPECT_TRUE(patience.is_over({100 * second_ns + tuning::longest_stall_ns, 5, false}));
}

TEST(Drain, WaitsForTheUsersLimitWhereSomethingIsAtWork) {
    drain_limit patience{30 * second_ns};
    EXPECT_FALSE(patience.is_over({0, 0, true}));
    EXPECT_FALSE(patience.is_over({30 * second_ns - 1, 0, true}));
    EXPECT_TRUE(patience.is_over({30 * second_ns, 0, true}));
}

TEST(Drain, TakesALimitThatIsShorterThanTheMoment) {
    drain_limit patience{second_ns / 10};
    EXPECT_FALSE(patience.is_over({0, 0, false}));
    EXPECT_TRUE(patience.is_over({second_ns / 10, 0, false}));
}

TEST(Drain, WithoutALimitWaitsForEverOnlyForWhatIsAtWork) {
    drain_limit patience{0};
    EXPECT_FALSE(patience.is_over({0, 0, true}));
    EXPECT_FALSE(patience.is_over({86400 * second_ns, 0, true}));
    EXPECT_FALSE(patience.is_over({86400 * second_ns, 0, false}));
    EXPECT_TRUE(patience.is_over({86400 * second_ns + tuning::longest_stall_ns, 0, false}));
}

TEST(Drain, GivesWhatACallbackHandedOnAMomentAfterALongOne) {
    drain_limit patience{30 * second_ns};
    EXPECT_FALSE(patience.is_over({0, 1, true}));
    EXPECT_FALSE(patience.is_over({5 * second_ns, 1, true}));
    EXPECT_FALSE(patience.is_over({5 * second_ns + second_ns / 10, 1, false}));
    EXPECT_TRUE(patience.is_over({5 * second_ns + tuning::longest_stall_ns, 1, false}));
}

TEST(Drain, BeginsAnewWithEveryTaskThatEnds) {
    drain_limit patience{30 * second_ns};
    EXPECT_FALSE(patience.is_over({0, 0, true}));
    EXPECT_FALSE(patience.is_over({40 * second_ns, 1, true}));
    EXPECT_FALSE(patience.is_over({69 * second_ns, 1, true}));
    patience.restart();
    EXPECT_FALSE(patience.is_over({80 * second_ns, 1, true}));
    EXPECT_TRUE(patience.is_over({110 * second_ns, 1, true}));
}

TEST(Drain, GivesADriverTheTimeToComeToItsTurn) {
    drain_limit of_short_limit = drain_limit::for_progress_call(second_ns / 10);
    EXPECT_FALSE(of_short_limit.is_over({0, 7, true}));
    EXPECT_FALSE(of_short_limit.is_over({2 * second_ns - 1, 7, true}));
    EXPECT_TRUE(of_short_limit.is_over({2 * second_ns, 7, true}));
    drain_limit of_none = drain_limit::for_progress_call(0);
    EXPECT_FALSE(of_none.is_over({0, 7, true}));
    EXPECT_FALSE(of_none.is_over({86400 * second_ns, 7, true}));
}

} // namespace
} // namespace commtask::detail
