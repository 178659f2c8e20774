// SPDX-License-Identifier: Apache-2.0
//
// What yields tell a shared worker of its core. The gauge is a function of times, so every case is played with numbers:
// nothing here waits, and no clock is read.
#include "core/core_gauge.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

constexpr std::uint64_t linger_ns = 100'000;
constexpr std::uint64_t quick_ns = tuning::long_yield_ns;
constexpr std::uint64_t slow_ns = tuning::long_yield_ns + 1;

TEST(CoreGauge, TrustsAYieldThatComesBackAtOnce) {
    core_gauge core{linger_ns};
    EXPECT_FALSE(core.may_linger(1'000, true));
    core.yielded(1'000, 1'000 + quick_ns);
    EXPECT_TRUE(core.is_idle());
    EXPECT_TRUE(core.may_linger(10'000, false));
}

TEST(CoreGauge, LingersLongerWithWorkAndFromTheLastFindOn) {
    core_gauge core{linger_ns};
    core.yielded(0, quick_ns);
    EXPECT_TRUE(core.may_linger(10'000, false));
    EXPECT_FALSE(core.may_linger(10'000 + linger_ns, false));
    EXPECT_TRUE(core.may_linger(10'000 + linger_ns, true));
    EXPECT_FALSE(core.may_linger(10'000 + tuning::linger_with_work_ns, true));
    core.found_something();
    EXPECT_TRUE(core.may_linger(20'000'000, false));
}

TEST(CoreGauge, BelievesNoYieldForAWhileAfterALongOne) {
    core_gauge core{linger_ns};
    std::uint64_t now = 1'000'000;
    for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(i);
        core.yielded(now, now + quick_ns);
        ASSERT_TRUE(core.is_idle());
        now += quick_ns + slow_ns;
        core.yielded(now - slow_ns, now);
        EXPECT_FALSE(core.is_idle());
        core.yielded(now, now + quick_ns);
        EXPECT_FALSE(core.is_idle()) << "too early to believe it";
        now += tuning::distrust_ns;
    }
    core.yielded(now, now + quick_ns);
    EXPECT_TRUE(core.is_idle());
}

} // namespace
} // namespace commtask::detail
