// SPDX-License-Identifier: Apache-2.0
//
// A lane that somebody wants to be attentive makes progress for others with nothing in flight, and its worker, on a core of its
// own or not, stays awake for that; one that nobody wants so any more sleeps.
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::lane_bench;

TEST(Attention, APassWithNothingInFlightMakesProgressOnlyIfItIsWanted) {
    lane_bench bench;
    EXPECT_FALSE(bench.the_lane().engine.progress());
    EXPECT_EQ(bench.carrier().n_progress, 0);
    bench.the_lane().count_windows(1);
    EXPECT_FALSE(bench.the_lane().engine.progress()) << "nothing of its own has moved";
    EXPECT_EQ(bench.carrier().n_progress, 1);
    bench.the_lane().count_windows(1);
    bench.the_lane().count_windows(-1);
    EXPECT_TRUE(bench.the_lane().engine.must_serve_others());
    bench.the_lane().count_windows(-1);
    EXPECT_FALSE(bench.the_lane().engine.progress());
    EXPECT_EQ(bench.carrier().n_progress, 1);
}

TEST(Attention, WhatIsInFlightIsPolledInItsPlace) {
    lane_bench bench;
    bench.the_lane().count_windows(1);
    task& sent = bench.post();
    bench.run();
    EXPECT_EQ(bench.carrier().n_progress, 0);
    bench.complete(sent);
    EXPECT_EQ(sent.life.state(), task_state::completed);
}

TEST(Attention, APollThatMovesNothingOfOthersIsFollowedByProgressIfThatIsWanted) {
    lane_bench bench;
    bench.carrier().polls_make_progress = false;
    task& probing = bench.post();
    bench.run();
    EXPECT_EQ(bench.carrier().n_progress, 0);
    bench.the_lane().count_windows(1);
    bench.run();
    EXPECT_EQ(bench.carrier().n_progress, 1);
    bench.the_lane().count_windows(-1);
    bench.complete(probing);
    EXPECT_EQ(bench.carrier().n_progress, 1);
}

TEST(Attention, AWorkerStaysAwakeAndSleepsAgain) {
    for (const bool is_reserved : {true, false}) {
        lane_bench bench;
        lane& mine = bench.the_lane();
        const worker beside{mine, {.is_reserved = is_reserved, .spin_ns = 1'000, .wait_max_ns = 1'000, .on_start = {}}};
        ASSERT_TRUE(comes_true([&] { return mine.wake_up.approx_waits(); })) << is_reserved;
        mine.count_windows(1);
        const int before = bench.carrier().n_progress;
        EXPECT_TRUE(comes_true([&] { return bench.carrier().n_progress > before + 1000; })) << is_reserved;
        mine.count_windows(-1);
        EXPECT_TRUE(comes_true([&] { return mine.wake_up.approx_waits(); })) << is_reserved;
        const int at_rest = bench.carrier().n_progress;
        task& posted = bench.post({.tag = testing::fake_transport::completes_at_once});
        EXPECT_TRUE(comes_true([&] { return posted.life.state() == task_state::completed; })) << is_reserved;
        EXPECT_EQ(bench.carrier().n_progress, at_rest);
    }
}

} // namespace
} // namespace commtask::detail
