// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait with the progress lock in hand, as in a callback of MPI under the interposer: nobody else can drive for them, so
// they drive themselves, whatever the policy says.
#include "core/waiting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace commtask::detail::testing {
namespace {

constexpr std::int64_t patience_ns = 20'000'000'000;

TEST(ProgressLock, IsKnownToTheThreadThatHasIt) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    EXPECT_FALSE(mine.engine.lock.is_mine());
    ASSERT_TRUE(mine.engine.lock.try_acquire());
    EXPECT_TRUE(mine.engine.lock.is_mine());
    std::thread{[&] { EXPECT_FALSE(mine.engine.lock.is_mine()); }}.join();
    mine.engine.lock.release();
    EXPECT_FALSE(mine.engine.lock.is_mine());
}

/// Waits, with the progress lock in hand, for a task whose operation has ended. @return whether it came back with it.
[[nodiscard]] bool ends_while_held(bool worker_is_reserved) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    task& wanted = bench.post();
    bench.run();
    bench.carrier().land(wanted);
    const worker beside{mine, {.is_reserved = worker_is_reserved, .spin_ns = 1'000, .on_start = {}}};
    mine.engine.lock.acquire_first();
    const bool has_ended = wait_in_library(bench.lanes(), {.worker_is_reserved = worker_is_reserved, .spin_ns = 1'000},
                                           patience_ns, [&] { return wanted.life.state() != task_state::open; });
    EXPECT_TRUE(mine.engine.lock.is_mine());
    mine.engine.lock.release();
    return has_ended;
}

TEST(ProgressLock, LetsItsHolderWaitBesideAReservedWorker) { EXPECT_TRUE(ends_while_held(true)); }

TEST(ProgressLock, LetsItsHolderWaitBesideASharedWorker) { EXPECT_TRUE(ends_while_held(false)); }

TEST(ProgressLock, LetsItsHolderDriveForAMomentThoughOthersWaitForIt) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    task& wanted = bench.post();
    mine.engine.lock.acquire_first();
    std::thread caller{[&] {
        mine.engine.lock.acquire_first();
        mine.engine.lock.release();
    }};
    while (!mine.engine.lock.has_callers()) std::this_thread::yield();
    EXPECT_EQ(progress_for_a_moment(mine, 1, [](bool) { return false; }), progress_result::moved);
    EXPECT_EQ(bench.carrier().take_started(), std::vector<task*>{&wanted});
    mine.engine.lock.release();
    caller.join();
    bench.complete(wanted);
}

TEST(ProgressLock, LetsItsHolderPostMoreThanTheQueueHolds) {
    lane_bench bench{8};
    lane& mine = bench.the_lane();
    std::vector<task*> posted;
    mine.engine.lock.acquire_first();
    for (int i = 0; i < 100; ++i) posted.push_back(&bench.post({.tag = fake_transport::completes_at_once}));
    EXPECT_TRUE(mine.engine.has_work());
    mine.engine.lock.release();
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), posted);
}

} // namespace
} // namespace commtask::detail::testing
