// SPDX-License-Identifier: Apache-2.0
//
// When a waiting thread goes on, sleeps and leaves: the decisions of waiting.hpp and of a worker that spins. All cases are played
// with numbers: nothing here waits, and no clock is read.
#include "core/wait_limit.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

using verdict = wait_limit::verdict;

constexpr std::uint64_t begin_ns = 7'000'000'000;
constexpr std::uint64_t spin_ns = 50'000;

TEST(LookLimit, ReadsTheClockOnceInSoManyLooks) {
    poll_limit limit{spin_ns};
    for (int round = 0; round < 3; ++round) {
        for (unsigned i = 1; i < tuning::steps_in_a_row; ++i) EXPECT_FALSE(limit.wants_clock());
        EXPECT_TRUE(limit.wants_clock());
    }
}

TEST(LookLimit, BeginsWithTheFirstReadingAfterAMove) {
    poll_limit limit{spin_ns};
    EXPECT_FALSE(limit.is_over(begin_ns));
    EXPECT_FALSE(limit.is_over(begin_ns + spin_ns - 1));
    limit.moved();
    EXPECT_FALSE(limit.is_over(begin_ns + 10 * spin_ns)) << "how long it moved is not known, and does not count";
    EXPECT_FALSE(limit.is_over(begin_ns + 11 * spin_ns - 1));
    EXPECT_TRUE(limit.is_over(begin_ns + 11 * spin_ns));
}

TEST(LookLimit, CountsFromAClockAtZero) {
    poll_limit limit{spin_ns};
    EXPECT_FALSE(limit.is_over(0));
    EXPECT_TRUE(limit.is_over(spin_ns));
}

TEST(LookLimit, EndsAtItsDeadlineWhateverMoves) {
    poll_limit limit{spin_ns, begin_ns + 100};
    EXPECT_FALSE(limit.is_over(begin_ns + 99));
    limit.moved();
    EXPECT_TRUE(limit.is_over(begin_ns + 100));
}

TEST(LookLimit, WithoutPatienceEndsAtTheFirstReading) {
    poll_limit limit{0};
    EXPECT_TRUE(limit.is_over(begin_ns));
}

TEST(WaitPatience, SleepsOnceTheWaitIsNoLongerYoung) {
    wait_limit patience{begin_ns, -1, spin_ns};
    EXPECT_TRUE(patience.may_take_over());
    EXPECT_EQ(patience.after(begin_ns + spin_ns - 1, {}), verdict::go_on);
    EXPECT_TRUE(patience.may_take_over());
    EXPECT_EQ(patience.after(begin_ns + spin_ns, {}), verdict::sleep);
    EXPECT_FALSE(patience.may_take_over());
    EXPECT_EQ(patience.sleep_ns(), static_cast<std::int64_t>(tuning::longest_unwoken_wait_ns));
}

TEST(WaitPatience, GoesOnAsLongAsItsTurnsBringSomething) {
    wait_limit patience{begin_ns, -1, spin_ns};
    const std::uint64_t late_ns = begin_ns + 1000 * spin_ns;
    EXPECT_EQ(patience.after(late_ns, {.has_moved = true}), verdict::go_on);
    EXPECT_TRUE(patience.may_take_over());
    EXPECT_EQ(patience.after(late_ns, {.goes_on = true}), verdict::go_on);
    EXPECT_FALSE(patience.may_take_over()) << "what moved before the last turn is over";
    EXPECT_EQ(patience.after(late_ns, {.must_make_progress = true}), verdict::go_on);
    EXPECT_EQ(patience.after(late_ns, {}), verdict::sleep);
}

TEST(WaitPatience, LeavesAtItsDeadlineAndSleepsNoLonger) {
    const auto timeout_ns = static_cast<std::int64_t>(tuning::longest_unwoken_wait_ns);
    wait_limit patience{begin_ns, timeout_ns, spin_ns};
    EXPECT_EQ(patience.deadline_ns(), begin_ns + tuning::longest_unwoken_wait_ns);
    EXPECT_EQ(patience.after(begin_ns + 2 * spin_ns, {}), verdict::sleep);
    EXPECT_EQ(patience.sleep_ns(), timeout_ns - static_cast<std::int64_t>(2 * spin_ns));
    const waiting_turn all{.has_moved = true, .goes_on = true, .must_make_progress = true};
    EXPECT_EQ(patience.after(patience.deadline_ns() - 1, all), verdict::go_on);
    EXPECT_EQ(patience.after(patience.deadline_ns(), all), verdict::leave);
}

TEST(WaitPatience, WithoutATimeLimitNeverLeaves) {
    wait_limit patience{begin_ns, -1, spin_ns};
    EXPECT_EQ(patience.after(UINT64_MAX - 1, {}), verdict::sleep);
}

} // namespace
} // namespace commtask::detail
