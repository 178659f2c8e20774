// SPDX-License-Identifier: Apache-2.0
//
// A worker that shares its core, with its lane over a fake transport: that it ends what no thread waits for, and leaves polling to a
// thread that makes progress.
#include "core/waiting.hpp"
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::lane_bench;

[[nodiscard]] worker_settings plan(lane_stats* counters = nullptr) {
    return {.is_reserved = false, .spin_ns = 1'000, .wait_max_ns = 10'000, .counters = counters};
}

TEST(SharedWorker, EndsWhatNobodyWaitsForAndBlocks) {
    lane_bench bench{lane_settings{.queue_capacity = 64, .submitters_start = true}};
    const worker beside{bench.the_lane(), plan()};
    task& sent = bench.post();
    ASSERT_TRUE(comes_true([&] { return bench.the_lane().engine.lock.try_acquire(); }));
    bench.carrier().land(sent);
    bench.the_lane().engine.lock.release();
    EXPECT_TRUE(comes_true([&] { return sent.life.state() == task_state::completed; }));
    EXPECT_TRUE(comes_true([&] { return bench.the_lane().wake_up.approx_waits(); }));
    task& next = bench.post({.tag = testing::fake_transport::completes_at_once});
    EXPECT_TRUE(comes_true([&] { return next.life.state() == task_state::completed; }));
}

/// Another thread makes progress all the time: the worker makes hardly a pass, however much is in flight.
TEST(SharedWorker, LeavesPollingToAThreadThatMakesProgress) {
    constexpr int n_passes = 200'000;
    lane_bench bench{lane_settings{.queue_capacity = 64, .submitters_start = true}};
    static_cast<void>(bench.post());
    const worker beside{bench.the_lane(), plan()};
    int n_own = 0;
    const std::uint64_t before = bench.the_lane().engine.approx_progress_calls();
    for (int i = 0; i < n_passes; ++i) {
        if (progress_for_a_moment(bench.the_lane(), 1, [](bool) { return false; }) != progress_result::refused) ++n_own;
    }
    const std::uint64_t of_worker =
        bench.the_lane().engine.approx_progress_calls() - before - static_cast<std::uint64_t>(n_own);
    EXPECT_LT(of_worker, n_passes / 50U);
}

} // namespace
} // namespace commtask::detail
