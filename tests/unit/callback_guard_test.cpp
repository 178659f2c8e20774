// SPDX-License-Identifier: Apache-2.0
//
// What is held against a callback: its own processor time, and never what others took meanwhile. The judgement is played
// with times; the clocks only with a callback that waits for the processor clock itself, or does not use it.
#include "base/callback_guard.hpp"

#include <gtest/gtest.h>

#include <poll.h>

namespace commtask::detail {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(CallbackGuard, CountsOnlyWhatTheCallbackMustHaveUsedItself) {
    const processor_reading read{.at_ns = 100 * ms, .used_ns = 7 * ms};
    // Read when it began: all that was used since is its own.
    EXPECT_EQ(least_used_ns(read, 100 * ms, 12 * ms), 5 * ms);
    // Read 2 ms before: as much may be another's.
    EXPECT_EQ(least_used_ns(read, 102 * ms, 12 * ms), 3 * ms);
    EXPECT_EQ(least_used_ns(read, 150 * ms, 12 * ms), 0U);
}

TEST(CallbackGuard, ReadsTheProcessorsClockOnceInAnEighthOfTheLimit) {
    const processor_reading read{.at_ns = 100 * ms, .used_ns = 0};
    EXPECT_FALSE(is_too_old(read, 100 * ms, 8 * ms));
    EXPECT_FALSE(is_too_old(read, 101 * ms - 1, 8 * ms));
    EXPECT_TRUE(is_too_old(read, 101 * ms, 8 * ms));
    EXPECT_TRUE(is_too_old(read, 100 * ms, 1)) << "a limit as short as that wants a reading each time";
}

TEST(CallbackGuard, NamesOneThatUsesTheProcessorAndCountsTheNext) {
    callback_guard guard{2 * ms};
    const auto use = [] {
        const std::uint64_t end = processor_time_ns() + 3 * ms;
        while (processor_time_ns() < end) {}
    };
    const auto found = guard.run(use);
    ASSERT_TRUE(found);
    EXPECT_GE(found->used_ns, 2 * ms);
    EXPECT_EQ(found->n_suppressed, 0U);
}

TEST(CallbackGuard, ForgivesTimeThatOthersHadTheProcessor) {
    callback_guard guard{1 * ms};
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(guard.run([] { poll(nullptr, 0, 5); })) << "5 ms by the clock, next to nothing of the processor";
    }
}

TEST(CallbackGuard, TimesNothingWithoutALimit) {
    callback_guard guard{0};
    EXPECT_FALSE(guard.run([] { poll(nullptr, 0, 1); }));
}

} // namespace
} // namespace commtask::detail
