// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait with the baton in hand, as in a callback of MPI under the interposer: nobody else can drive for them, so
// they drive themselves, whatever the policy says.
#include "core/waiting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace commtask::detail::testing {
namespace {

constexpr std::int64_t patience_ns = 20'000'000'000;

TEST(Baton, IsKnownToTheThreadThatHasIt) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    EXPECT_FALSE(mine.is_held_by_me());
    ASSERT_TRUE(mine.try_take_baton());
    EXPECT_TRUE(mine.is_held_by_me());
    std::thread{[&] { EXPECT_FALSE(mine.is_held_by_me()); }}.join();
    mine.return_baton();
    EXPECT_FALSE(mine.is_held_by_me());
}

/// Waits, with the baton in hand, for a task whose operation has ended. @return whether it came back with it.
[[nodiscard]] bool ends_while_held(bool worker_is_reserved) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    task& wanted = bench.post();
    bench.run();
    bench.carrier().land(wanted);
    const worker beside{mine, {.is_reserved = worker_is_reserved, .spin_ns = 1'000, .on_start = {}}};
    mine.take_baton_as_guest();
    const bool has_ended = wait_in_library(bench.lanes(), {.worker_is_reserved = worker_is_reserved, .spin_ns = 1'000},
                                           patience_ns, [&] { return wanted.life.state() != task_state::open; });
    EXPECT_TRUE(mine.is_held_by_me());
    mine.return_baton();
    return has_ended;
}

TEST(Baton, LetsItsHolderWaitBesideAReservedWorker) { EXPECT_TRUE(ends_while_held(true)); }

TEST(Baton, LetsItsHolderWaitBesideASharedWorker) { EXPECT_TRUE(ends_while_held(false)); }

TEST(Baton, LetsItsHolderDriveForAMomentThoughOthersWaitForIt) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    task& wanted = bench.post();
    mine.take_baton_as_guest();
    std::thread guest{[&] {
        mine.take_baton_as_guest();
        mine.return_baton();
    }};
    while (!mine.has_guests()) std::this_thread::yield();
    EXPECT_EQ(drive_for_a_moment(mine, 1, [](bool) { return false; }), drive_result::moved);
    EXPECT_EQ(bench.carrier().take_started(), std::vector<task*>{&wanted});
    mine.return_baton();
    guest.join();
    bench.complete(wanted);
}

TEST(Baton, LetsItsHolderPostMoreThanTheQueueHolds) {
    lane_bench bench{8};
    lane& mine = bench.the_lane();
    std::vector<task*> posted;
    mine.take_baton_as_guest();
    for (int i = 0; i < 100; ++i) posted.push_back(&bench.post({.tag = fake_transport::completes_at_once}));
    EXPECT_TRUE(mine.has_work());
    mine.return_baton();
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), posted);
}

} // namespace
} // namespace commtask::detail::testing
