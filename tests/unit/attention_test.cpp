// SPDX-License-Identifier: Apache-2.0
//
// A lane that somebody wants to be attentive makes progress for others with nothing in flight, and its worker, on a core of its
// own or not, stays awake for that; one that nobody wants so any more sleeps.
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::lane_bench;

TEST(Attention, APassWithNothingInFlightMakesProgressOnlyIfItIsWanted) {
    lane_bench bench;
    EXPECT_FALSE(bench.the_lane().progress());
    EXPECT_EQ(bench.carrier().n_progress, 0);
    bench.the_lane().attend(1);
    EXPECT_FALSE(bench.the_lane().progress()) << "nothing of its own has moved";
    EXPECT_EQ(bench.carrier().n_progress, 1);
    bench.the_lane().attend(1);
    bench.the_lane().attend(-1);
    EXPECT_TRUE(bench.the_lane().is_attentive());
    bench.the_lane().attend(-1);
    EXPECT_FALSE(bench.the_lane().progress());
    EXPECT_EQ(bench.carrier().n_progress, 1);
}

TEST(Attention, WhatIsInFlightIsPolledInItsPlace) {
    lane_bench bench;
    bench.the_lane().attend(1);
    task& sent = bench.post();
    bench.run();
    EXPECT_EQ(bench.carrier().n_progress, 0);
    bench.complete(sent);
    EXPECT_EQ(sent.life.state(), task_state::completed);
}

TEST(Attention, AWorkerStaysAwakeAndSleepsAgain) {
    for (const bool is_reserved : {true, false}) {
        lane_bench bench;
        lane& mine = bench.the_lane();
        const worker beside{mine, {.is_reserved = is_reserved, .spin_ns = 1'000, .nap_max_ns = 1'000, .on_start = {}}};
        ASSERT_TRUE(comes_true([&] { return mine.wake_up.approx_is_asleep(); })) << is_reserved;
        mine.attend(1);
        const int before = bench.carrier().n_progress;
        EXPECT_TRUE(comes_true([&] { return bench.carrier().n_progress > before + 1000; })) << is_reserved;
        mine.attend(-1);
        EXPECT_TRUE(comes_true([&] { return mine.wake_up.approx_is_asleep(); })) << is_reserved;
        const int at_rest = bench.carrier().n_progress;
        task& posted = bench.post({.tag = testing::fake_transport::completes_at_once});
        EXPECT_TRUE(comes_true([&] { return posted.life.state() == task_state::completed; })) << is_reserved;
        EXPECT_EQ(bench.carrier().n_progress, at_rest);
    }
}

/// A pass of the test's thread, as of one that waits in the library.
void drive_once(lane& mine) {
    if (!mine.try_take_baton()) return;
    static_cast<void>(mine.progress());
    mine.return_baton();
}

TEST(Attention, AWorkerComesBackSoonWhenAnotherThreadHasDriven) {
    // Two of its naps are within the patience; beside a thread that drives one would be longer than it, without a window.
    constexpr std::uint64_t nap_ns = testing::patience_ns / 5 * 2;
    static_assert(tuning::naps_when_others_drive * nap_ns > testing::patience_ns);
    lane_bench bench;
    lane& mine = bench.the_lane();
    const worker beside{mine, {.is_reserved = false, .spin_ns = 1'000, .nap_max_ns = nap_ns, .on_start = {}}};
    mine.attend(1);
    const int before = bench.carrier().n_progress;
    ASSERT_TRUE(comes_true([&] { return bench.carrier().n_progress > before; }));
    for (int i = 0; i < 2'000; ++i) {
        drive_once(mine);
        std::this_thread::yield();
    }
    const int driven = bench.carrier().n_progress;
    // Where others need the core it naps before, at first for microseconds, and each time twice as long.
    EXPECT_TRUE(comes_true([&] { return bench.carrier().n_progress > driven + tuning::looks_when_attentive; }));
    mine.attend(-1);
}

} // namespace
} // namespace commtask::detail
