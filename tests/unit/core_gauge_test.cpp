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
    EXPECT_FALSE(core.may_linger(1'000, awaiting::accesses));
    core.yielded(1'000, 1'000 + quick_ns);
    EXPECT_TRUE(core.is_idle());
    EXPECT_TRUE(core.may_linger(10'000, awaiting::posts));
}

TEST(CoreGauge, LingersLongerWithWorkAndFromTheLastFindOn) {
    core_gauge core{linger_ns};
    core.yielded(0, quick_ns);
    EXPECT_TRUE(core.may_linger(10'000, awaiting::posts));
    EXPECT_FALSE(core.may_linger(10'000 + linger_ns, awaiting::posts));
    EXPECT_TRUE(core.may_linger(10'000 + linger_ns, awaiting::ends));
    EXPECT_FALSE(core.may_linger(10'000 + tuning::linger_with_work_ns, awaiting::ends));
    core.found_something();
    EXPECT_TRUE(core.may_linger(20'000'000, awaiting::posts));
}

TEST(CoreGauge, LingersForAccessesAsLongAsTheCoreIsIdle) {
    core_gauge core{linger_ns};
    core.yielded(0, quick_ns);
    std::uint64_t now = 10'000;
    EXPECT_TRUE(core.may_linger(now, awaiting::accesses));
    now += 1000 * tuning::linger_with_work_ns;
    EXPECT_TRUE(core.may_linger(now, awaiting::accesses)) << "no pass says that somebody has accessed the window";
    core.yielded(now, now + slow_ns);
    EXPECT_FALSE(core.may_linger(now + slow_ns, awaiting::accesses));
}

TEST(CoreGauge, TakesAThreadThatDrivesForNoneThatComputes) {
    core_gauge core{linger_ns};
    core.yielded(0, quick_ns);
    constexpr std::uint64_t n_passes = 64;
    constexpr std::uint64_t driven_ns = quick_ns + n_passes * tuning::pass_of_others_ns;
    core.yielded(100'000, 100'000 + driven_ns, n_passes);
    EXPECT_TRUE(core.is_idle());
    core.yielded(1'000'000, 1'000'000 + driven_ns, n_passes - 1);
    EXPECT_FALSE(core.is_idle());
}

TEST(CoreGauge, AsksAgainAfterANapInWhichNobodyComputed) {
    core_gauge core{linger_ns};
    constexpr std::uint64_t nap_ns = 200'000;
    constexpr std::uint64_t quiet_ns = nap_ns / tuning::share_of_a_quiet_nap;
    EXPECT_TRUE(core.is_worth_a_yield(1'000, {nap_ns, quiet_ns - 1, nap_ns}));
    EXPECT_FALSE(core.is_worth_a_yield(1'000, {nap_ns, quiet_ns, nap_ns})) << "somebody of this process computes";
    constexpr std::uint64_t late_ns = nap_ns + tuning::late_nap_ns;
    EXPECT_TRUE(core.is_worth_a_yield(1'000, {late_ns - 1, 0, nap_ns}));
    EXPECT_FALSE(core.is_worth_a_yield(1'000, {late_ns, 0, nap_ns})) << "another process has had the core";
    core.yielded(0, slow_ns);
    EXPECT_FALSE(core.is_worth_a_yield(slow_ns + nap_ns, {nap_ns, 0, nap_ns})) << "too early to believe it";
    EXPECT_TRUE(core.is_worth_a_yield(slow_ns + tuning::distrust_ns, {nap_ns, 0, nap_ns}));
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
