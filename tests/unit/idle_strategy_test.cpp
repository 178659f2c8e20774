// SPDX-License-Identifier: Apache-2.0
//
// The table of the idle strategy: what a worker that shares its core does after each kind of turn, and how its waits grow. Times are made
// up.
#include "core/idle_strategy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace commtask::detail {
namespace {

using kind = worker_pause::kind;

constexpr std::uint64_t spin_ns = 20'000;
constexpr std::int64_t longest_ns = 200'000;
constexpr std::uint64_t start_ns = 1'000'000'000;
constexpr std::uint64_t long_after_ns = start_ns + 2 * tuning::active_ns;

/// One that moved something at `start_ns`.
[[nodiscard]] idle_strategy fresh() {
    idle_strategy made{spin_ns, longest_ns};
    EXPECT_EQ(made.after({.now_ns = start_ns, .moved = true}).what, kind::poll);
    return made;
}

TEST(IdleStrategy, IsThisTable) {
    struct row {
        const char* name;
        worker_turn turn;
        kind what;
        std::int64_t ns;
    };
    const std::vector<row> table{
        {"something moved", {.now_ns = long_after_ns, .moved = true, .has_work = true}, kind::poll, 0},
        {"active, in flight", {.now_ns = start_ns + tuning::active_ns - 1, .has_work = true}, kind::yield, 0},
        {"active no longer, in flight",
         {.now_ns = start_ns + tuning::active_ns, .has_work = true},
         kind::wait,
         tuning::first_wait_ns},
        {"active, nothing in flight", {.now_ns = start_ns + spin_ns - 1}, kind::yield, 0},
        {"active no longer, nothing in flight", {.now_ns = start_ns + spin_ns}, kind::wait, longest_ns},
        {"another thread makes progress",
         {.now_ns = start_ns + 1, .others_progress = true, .has_work = true},
         kind::wait,
         tuning::waits_while_others_progress * longest_ns},
        {"another thread has the lock",
         {.now_ns = start_ns + 1, .lock_is_taken = true, .has_work = true},
         kind::wait,
         longest_ns},
        {"a window on an idle core", {.now_ns = long_after_ns, .has_work = true, .has_window = true}, kind::yield, 0},
    };
    for (const row& each : table) {
        idle_strategy its = fresh();
        const worker_pause next = its.after(each.turn);
        EXPECT_EQ(next.what, each.what) << each.name;
        EXPECT_EQ(next.ns, each.ns) << each.name;
    }
}

TEST(IdleStrategy, DoesNotYieldForAWhileAfterALongYield) {
    idle_strategy its = fresh();
    const worker_turn soon{.now_ns = start_ns + 1, .has_work = true};
    its.yielded(start_ns, start_ns + tuning::long_yield_ns);
    EXPECT_EQ(its.after(soon).what, kind::yield) << "not longer than that";
    const std::uint64_t end_ns = start_ns + tuning::long_yield_ns + 1;
    its.yielded(start_ns, end_ns);
    EXPECT_EQ(its.after({.now_ns = end_ns, .has_work = true}).what, kind::wait);
    EXPECT_EQ(its.after({.now_ns = end_ns, .has_work = true, .has_window = true}).what, kind::wait);
    EXPECT_EQ(its.after({.now_ns = end_ns + tuning::busy_core_ns, .has_work = true}).what, kind::yield);
}

/// The lengths of so many waits in a row.
[[nodiscard]] std::vector<std::int64_t> waits_of(idle_strategy& its, int n, bool is_rung) {
    std::vector<std::int64_t> all;
    for (int i = 0; i < n; ++i)
        all.push_back(its.after({.now_ns = long_after_ns, .has_work = true, .is_rung = is_rung}).ns);
    return all;
}

TEST(IdleStrategy, WaitsTwiceAsLongEachTimeUpToABound) {
    idle_strategy its = fresh();
    EXPECT_EQ(waits_of(its, 8, false),
              (std::vector<std::int64_t>{5'000, 10'000, 20'000, 40'000, 80'000, 160'000, 200'000, 200'000}));
    idle_strategy rung = fresh();
    EXPECT_EQ(waits_of(rung, 12, true).back(), tuning::longest_rung_wait_ns);
    EXPECT_EQ(rung.after({.now_ns = long_after_ns, .has_work = true, .is_rung = true}).what, kind::arm);
    const worker_pause next = rung.after({.now_ns = long_after_ns, .has_work = true});
    EXPECT_EQ(next.what, kind::wait) << "something else is in flight now";
    EXPECT_EQ(next.ns, longest_ns);
    static_cast<void>(its.after({.now_ns = long_after_ns, .moved = true}));
    EXPECT_EQ(its.after({.now_ns = long_after_ns + tuning::active_ns, .has_work = true}).ns, tuning::first_wait_ns);
}

TEST(IdleStrategy, ArmsForWaitsThatAreAsLongAsAWaitWithoutDoorbellsMayBe) {
    idle_strategy its = fresh();
    for (const std::int64_t ns : {5'000, 10'000, 20'000, 40'000, 80'000, 160'000, 320'000}) {
        const worker_pause next = its.after({.now_ns = long_after_ns, .has_work = true, .is_rung = true});
        EXPECT_EQ(next.ns, ns);
        EXPECT_EQ(next.what, ns < longest_ns ? kind::wait : kind::arm) << ns;
    }
    const worker_turn beside{.now_ns = long_after_ns, .others_progress = true, .has_work = true, .is_rung = true};
    EXPECT_EQ(its.after(beside).what, kind::wait);
}

TEST(IdleStrategy, ALongBoundOfTheUsersHoldsForRungWaitsToo) {
    idle_strategy its{spin_ns, 2 * tuning::longest_rung_wait_ns};
    EXPECT_EQ(waits_of(its, 12, true).back(), 2 * tuning::longest_rung_wait_ns);
    EXPECT_EQ(its.after({.now_ns = long_after_ns, .has_work = true, .is_rung = true}).what, kind::arm);
}

TEST(IdleStrategy, BlocksAfterSomeWaitsWithNothingInFlight) {
    idle_strategy its = fresh();
    const worker_turn nothing{.now_ns = long_after_ns};
    for (int i = 0; i < tuning::idle_waits_before_block; ++i) ASSERT_EQ(its.after(nothing).what, kind::wait) << i;
    EXPECT_EQ(its.after(nothing).what, kind::block);
    EXPECT_EQ(its.after(nothing).what, kind::block) << "a wake-up for nothing";
    for (const worker_turn& between :
         {worker_turn{.now_ns = long_after_ns, .moved = true}, {.now_ns = long_after_ns, .others_progress = true}}) {
        static_cast<void>(its.after(between));
        for (int i = 0; i < tuning::idle_waits_before_block; ++i) {
            ASSERT_EQ(its.after({.now_ns = long_after_ns + spin_ns}).what, kind::wait) << "from the beginning";
        }
    }
}

} // namespace
} // namespace commtask::detail
