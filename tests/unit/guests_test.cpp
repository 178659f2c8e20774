// SPDX-License-Identifier: Apache-2.0
//
// Threads that call MPI themselves: what was posted before is started first, and whoever drives gives them the baton. The
// second thread's steps are seen in the lane's own counters, so nothing here waits for time.
#include "fake_transport.hpp"
#include "worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace commtask::detail::testing {
namespace {

TEST(Guests, StartWhatWasPostedWithoutPolling) {
    lane_bench bench;
    task& first = bench.post();
    task& second = bench.post();
    bench.the_lane().take_in_all();
    EXPECT_EQ(bench.carrier().take_started(), (std::vector<task*>{&first, &second}));
    bench.carrier().land(first);
    bench.the_lane().take_in_all();
    EXPECT_EQ(first.life.state(), task_state::open);
    bench.run();
    EXPECT_EQ(first.life.state(), task_state::completed);
    bench.complete(second);
}

TEST(Guests, AreLetInBeforeThreadsThatWait) {
    lane_bench bench;
    lane& shared = bench.the_lane();
    ASSERT_TRUE(shared.try_take_baton());
    std::atomic<bool> is_in{false};
    std::thread guest{[&] {
        shared.take_baton_as_guest();
        is_in = true;
    }};
    while (!shared.has_guests()) std::this_thread::yield();
    EXPECT_FALSE(is_in);
    shared.return_baton();
    EXPECT_EQ(drive_for_a_moment(shared, 1, [](bool) { return false; }), drive_result::refused);
    guest.join();
    EXPECT_TRUE(is_in);
    EXPECT_FALSE(shared.has_guests());
    shared.return_baton();
}

TEST(Guests, GetTheBatonFromAReservedWorkerThatIsBusy) {
    lane_bench bench;
    lane& busy = bench.the_lane();
    task& open = bench.post();
    {
        worker reserved{busy, {.is_reserved = true, .spin_ns = 1'000'000, .on_start = {}}};
        for (int i = 0; i < 100; ++i) {
            busy.take_baton_as_guest();
            busy.progress(); // the guest drives as the worker does
            busy.return_baton();
        }
        busy.take_baton_as_guest();
        bench.carrier().land(open);
        busy.return_baton();
        while (open.life.state() == task_state::open) std::this_thread::yield();
    }
    EXPECT_EQ(open.life.state(), task_state::completed);
}

} // namespace
} // namespace commtask::detail::testing
