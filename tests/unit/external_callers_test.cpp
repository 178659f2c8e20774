// SPDX-License-Identifier: Apache-2.0
//
// Threads that call MPI themselves: what was posted before is started first, and whoever drives gives them the progress lock. The
// second thread's steps are seen in the lane's own counters, so nothing here waits for time.
#include "core/waiting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace commtask::detail::testing {
namespace {

TEST(ExternalCallers, StartWhatWasPostedWithoutPolling) {
    lane_bench bench;
    task& first = bench.post();
    task& second = bench.post();
    bench.the_lane().engine.accept_and_start();
    EXPECT_EQ(bench.carrier().take_started(), (std::vector<task*>{&first, &second}));
    bench.carrier().land(first);
    bench.the_lane().engine.accept_and_start();
    EXPECT_EQ(first.life.state(), task_state::open);
    bench.run();
    EXPECT_EQ(first.life.state(), task_state::completed);
    bench.complete(second);
}

TEST(ExternalCallers, AreLetInBeforeThreadsThatWait) {
    lane_bench bench;
    lane& shared = bench.the_lane();
    ASSERT_TRUE(shared.engine.lock.try_acquire());
    std::atomic<bool> is_in{false};
    std::thread caller{[&] {
        shared.engine.lock.acquire_first();
        is_in = true;
    }};
    while (!shared.engine.lock.has_callers()) std::this_thread::yield();
    EXPECT_FALSE(is_in);
    shared.engine.lock.release();
    EXPECT_EQ(progress_for_a_moment(shared, 1, [](bool) { return false; }), progress_result::refused);
    caller.join();
    EXPECT_TRUE(is_in);
    EXPECT_FALSE(shared.engine.lock.has_callers());
    shared.engine.lock.release();
}

TEST(ExternalCallers, GetTheLockFromAReservedWorkerThatIsBusy) {
    lane_bench bench;
    lane& busy = bench.the_lane();
    task& open = bench.post();
    {
        worker reserved{busy, {.is_reserved = true, .spin_ns = 1'000'000, .on_start = {}}};
        for (int i = 0; i < 100; ++i) {
            busy.engine.lock.acquire_first();
            busy.engine.progress(); // the caller drives as the worker does
            busy.engine.lock.release();
        }
        busy.engine.lock.acquire_first();
        bench.carrier().land(open);
        busy.engine.lock.release();
        while (open.life.state() == task_state::open) std::this_thread::yield();
    }
    EXPECT_EQ(open.life.state(), task_state::completed);
}

TEST(ExternalCallers, ThatKeepTheLockDoNotKeepAWorkerFromItsEnd) {
    lane_bench bench;
    lane& kept = bench.the_lane();
    std::atomic<bool> has_started{false};
    const worker_settings plan{.is_reserved = true, .spin_ns = 1'000, .on_start = [&] { has_started = true; }};
    ASSERT_TRUE(kept.engine.lock.try_acquire());
    {
        worker never_drives{kept, plan};
        while (!has_started.exchange(false)) std::this_thread::yield();
        never_drives.stop();
    }
    kept.engine.lock.release();
    {
        worker drives_once{kept, plan};
        while (!has_started) std::this_thread::yield();
        kept.engine.lock.acquire_first();
        kept.wake_up.wake_unconditionally(); // whether it sleeps already or not
        drives_once.stop();
    }
    kept.engine.lock.release();
}

constexpr std::int64_t patience_ns = 20'000'000'000;

/// A task that only this thread's polls can end, served by a reserved worker. @return whether it ended in time.
[[nodiscard]] bool ends_by_this_thread(const waiting_policy& policy, std::int64_t timeout_ns) {
    lane_bench bench;
    task& wanted = bench.post();
    bench.run();
    bench.carrier().only_poller = std::this_thread::get_id();
    bench.carrier().land(wanted);
    {
        const worker reserved{bench.the_lane(), {.is_reserved = true, .spin_ns = 1'000'000, .on_start = {}}};
        const bool has_ended =
            wait_in_library(bench.lanes(), policy, timeout_ns, [&] { return wanted.life.state() != task_state::open; });
        if (has_ended) return true;
    }
    bench.run();
    return false;
}

TEST(ExternalCallers, DriveInsteadOfAReservedWorkerWhileTheyWait) {
    EXPECT_TRUE(
        ends_by_this_thread({.worker_is_reserved = true, .spin_ns = 1'000'000, .takes_over = true}, patience_ns));
}

TEST(ExternalCallers, LeaveTheLaneToAReservedWorkerIfThePolicySaysSo) {
    EXPECT_FALSE(
        ends_by_this_thread({.worker_is_reserved = true, .spin_ns = 1'000'000, .takes_over = false}, 50'000'000));
}

TEST(ExternalCallers, GiveTheLaneBackWhenNothingMoves) {
    lane_bench bench;
    lane& shared = bench.the_lane();
    task& wanted = bench.post();
    bench.run();
    std::atomic<bool> has_started{false};
    bool has_landed = false;
    bool has_ended = false;
    {
        const worker reserved{shared, {.is_reserved = true, .spin_ns = 1'000'000, .on_start = [&] {
                                           bench.carrier().only_poller = std::this_thread::get_id();
                                           has_started = true;
                                       }}};
        while (!has_started) std::this_thread::yield();
        // It lands while this thread drives: then only the worker can end the task. On a busy machine the first waits may be
        // over before this thread drives.
        const waiting_policy policy{.worker_is_reserved = true, .spin_ns = 100'000'000, .takes_over = true};
        for (std::int64_t waited_ns = 0; !has_ended && waited_ns < patience_ns;
             waited_ns += static_cast<std::int64_t>(policy.spin_ns)) {
            has_ended = wait_in_library(bench.lanes(), policy, 2 * static_cast<std::int64_t>(policy.spin_ns), [&] {
                if (!has_landed && shared.engine.lock.has_waiter_in_progress()) {
                    bench.carrier().land(wanted);
                    has_landed = true;
                }
                return wanted.life.state() != task_state::open;
            });
        }
    }
    EXPECT_TRUE(has_landed);
    EXPECT_TRUE(has_ended);
}

TEST(ExternalCallers, DoNotDriveInsteadWhereOthersNeedPausesOrTheLock) {
    lane_bench bench;
    lane& shared = bench.the_lane();
    const auto never = [] { return false; };
    shared.engine.lock.add_blocked_outside(1);
    EXPECT_FALSE(progress_instead(shared, patience_ns, UINT64_MAX, never));
    shared.engine.lock.add_blocked_outside(-1);
    ASSERT_TRUE(shared.engine.lock.try_acquire()); // somebody blocks with it
    EXPECT_FALSE(progress_instead(shared, 1'000'000, UINT64_MAX, never));
    EXPECT_FALSE(progress_instead(shared, patience_ns, now_ns() + 1'000'000, never));
    EXPECT_FALSE(shared.engine.lock.has_callers());
    EXPECT_FALSE(shared.engine.lock.has_waiter_in_progress());
    shared.engine.lock.release();
}

} // namespace
} // namespace commtask::detail::testing
