// SPDX-License-Identifier: Apache-2.0
//
// Workers that the program has paused: they leave their cores, who posts issues and who waits drives, and what nobody waits for
// ends all the same. Over a fake transport, with real workers of both kinds.
#include "core/waiting.hpp"
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::lane_bench;
using testing::patience_ns;

[[nodiscard]] worker_settings worker_of(bool is_reserved, std::atomic<int>* n_changes = nullptr) {
    worker_settings plan{.is_reserved = is_reserved, .spin_ns = 1'000, .wait_max_ns = 1'000};
    if (n_changes != nullptr) plan.lend_core = [n_changes](bool is_lent) { *n_changes += is_lent ? 1 : 100; };
    return plan;
}

class Pause : public ::testing::TestWithParam<bool> {};

TEST_P(Pause, IsCountedAndToldToTheWorkerOnce) {
    lane_bench bench;
    std::atomic<int> n_changes{0};
    const worker beside{bench.the_lane(), worker_of(GetParam(), &n_changes)};
    EXPECT_FALSE(bench.lanes().resume(pauser::program)) << "nobody has paused";
    bench.lanes().pause(pauser::program);
    bench.lanes().pause(pauser::program);
    EXPECT_TRUE(comes_true([&] { return n_changes == 1; }));
    EXPECT_TRUE(bench.lanes().resume(pauser::program));
    EXPECT_TRUE(bench.lanes().are_paused());
    EXPECT_EQ(n_changes, 1);
    EXPECT_TRUE(bench.lanes().resume(pauser::program));
    EXPECT_FALSE(bench.lanes().are_paused());
    EXPECT_TRUE(comes_true([&] { return n_changes == 101; }));
    EXPECT_FALSE(bench.lanes().resume(pauser::program));
}

TEST_P(Pause, EachResumesWhatItHasPausedItself) {
    lane_bench bench;
    const worker beside{bench.the_lane(), worker_of(GetParam())};
    bench.lanes().pause(pauser::user);
    EXPECT_FALSE(bench.lanes().resume(pauser::program)) << "it has not paused";
    bench.lanes().pause(pauser::program);
    bench.lanes().pause(pauser::program);
    bench.lanes().resume_all(pauser::program);
    EXPECT_TRUE(bench.lanes().are_paused()) << "by the user";
    EXPECT_TRUE(bench.lanes().resume(pauser::user));
    EXPECT_FALSE(bench.lanes().are_paused());
    bench.lanes().pause(pauser::program);
    EXPECT_FALSE(bench.lanes().resume(pauser::user));
    EXPECT_TRUE(bench.lanes().are_paused());
    bench.lanes().resume_for_good();
}

TEST_P(Pause, WithNothingToDoTheWorkerMakesNoPass) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    std::atomic<int> n_changes{0};
    const worker beside{mine, worker_of(GetParam(), &n_changes)};
    bench.lanes().pause(pauser::program);
    ASSERT_TRUE(comes_true([&] { return n_changes == 1 && mine.wake_up.approx_waits(); }));
    EXPECT_FALSE(mine.engine.lock.approx_is_taken());
    const std::uint64_t n_passes = mine.engine.approx_progress_calls();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    EXPECT_EQ(mine.engine.approx_progress_calls(), n_passes);
    bench.lanes().resume_for_good();
    bench.lanes().resume_for_good();
    EXPECT_FALSE(bench.lanes().are_paused());
}

TEST_P(Pause, WhoPostsIssuesAndWhoWaitsDrives) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    std::atomic<int> n_changes{0};
    const worker beside{mine, worker_of(GetParam(), &n_changes)};
    bench.lanes().pause(pauser::program);
    ASSERT_TRUE(comes_true([&] { return n_changes == 1; }));
    bench.carrier().only_poller = std::this_thread::get_id(); // the worker's looks find nothing
    task& posted = bench.post();
    ASSERT_TRUE(comes_true([&] { return mine.engine.lock.try_acquire(); }));
    EXPECT_EQ(bench.carrier().take_started(), std::vector{&posted});
    bench.carrier().land(posted);
    mine.engine.lock.release();
    const waiting_policy looks_on{.worker_is_reserved = true, .spin_ns = 1'000};
    EXPECT_TRUE(wait_in_library(bench.lanes(), looks_on, static_cast<std::int64_t>(patience_ns),
                                [&] { return posted.life.state() == task_state::completed; }));
    bench.lanes().resume_for_good();
}

TEST_P(Pause, WhatNobodyWaitsForEndsAllTheSame) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    const worker beside{mine, worker_of(GetParam())};
    bench.lanes().pause(pauser::program);
    ASSERT_TRUE(comes_true([&] { return mine.wake_up.approx_waits(); }));
    // No submitter may start it: the worker finds it in one of its looks.
    task& posted = bench.post({.tag = testing::fake_transport::runs_a_function});
    ASSERT_TRUE(comes_true([&] { return mine.engine.approx_has_work(); }));
    ASSERT_TRUE(comes_true([&] { return mine.engine.lock.try_acquire(); }));
    bench.carrier().land(posted);
    mine.engine.lock.release();
    EXPECT_TRUE(comes_true([&] { return posted.life.state() == task_state::completed; }));
    EXPECT_TRUE(bench.lanes().are_paused());
}

TEST_P(Pause, MoreThanTheInboxHoldsCanBePosted) {
    lane_bench bench{lane_settings{.queue_capacity = 8}};
    const worker beside{bench.the_lane(), worker_of(GetParam())};
    bench.lanes().pause(pauser::program);
    const testing::task_plan ends_at_once{.tag = testing::fake_transport::completes_at_once};
    for (int i = 0; i < 100; ++i) bench.post_unheld(0, ends_at_once);
    EXPECT_TRUE(comes_true([&] { return bench.the_lane().scheduled.approx_ended() == 100; }));
}

TEST_P(Pause, AnAttentiveWorkerStillLooksNowAndThen) {
    lane_bench bench;
    const worker beside{bench.the_lane(), worker_of(GetParam())};
    bench.lanes().pause(pauser::program);
    bench.the_lane().count_windows(1);
    EXPECT_TRUE(comes_true([&] { return bench.carrier().n_progress > 2; }));
    bench.the_lane().count_windows(-1);
}

INSTANTIATE_TEST_SUITE_P(Workers, Pause, ::testing::Bool(),
                         [](const auto& with) { return with.param ? "Reserved" : "Shared"; });

TEST(Parking, AKnockOfThisProcessLeavesAParkedWorkerAloneAndASureOneDoesNot) {
    wakeup parked_at{register_heavy_barrier()};
    std::atomic<bool> has_come_back{false};
    std::atomic<bool> must_go_on{false};
    std::thread sleeper{[&] {
        while (!must_go_on) {
            parked_at.wait(worker_state::paused, static_cast<std::int64_t>(patience_ns),
                           [&] { return must_go_on.load(); });
        }
        has_come_back = true;
    }};
    ASSERT_TRUE(comes_true([&] { return parked_at.approx_waits(); }));
    parked_at.wake();
    parked_at.wake_from_long_wait();
    EXPECT_TRUE(parked_at.approx_waits());
    EXPECT_FALSE(has_come_back);
    must_go_on = true;
    parked_at.wake_unconditionally();
    sleeper.join();
    EXPECT_FALSE(parked_at.approx_waits());
}

} // namespace
} // namespace commtask::detail
