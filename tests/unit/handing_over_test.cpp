// SPDX-License-Identifier: Apache-2.0
//
// What a thread that drives leaves behind when it turns to something else: a callback's posts, for which a driver rings nobody,
// must not wait until somebody else happens to ring the worker, who sleeps deeply here from the start.
#include "core/waiting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace commtask::detail::testing {
namespace {

/// Sleeps as a worker without work does, until somebody rings.
class sleeper {
public:
    explicit sleeper(lane& where) {
        thread_ = std::thread{[&where] { where.wake_up.wait(worker_state::blocked, -1, [] { return false; }); }};
        while (!where.wake_up.approx_waits()) std::this_thread::yield();
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;
    ~sleeper() { thread_.join(); }

private:
    std::thread thread_;
};

/// A task whose callback posts another one.
struct chain {
    lane_bench bench;
    task& second = bench.make({.tag = fake_transport::completes_at_once});
    task& first = bench.make({.tag = fake_transport::completes_at_once, .callback = &post_second, .argument = this});

    static void post_second(const commtask_status* /*status*/, void* self) {
        auto& mine = *static_cast<chain*>(self);
        mine.bench.the_lane().post(mine.second);
    }
    [[nodiscard]] bool has_first_ended() const { return first.life.state() != task_state::open; }
};

TEST(HandingOver, WhoHasWaitedWakesTheWorkerForWhatACallbackHasPosted) {
    chain both;
    both.bench.the_lane().post(both.first);
    {
        const sleeper worker{both.bench.the_lane()}; // it ends only if it is woken
        EXPECT_TRUE(wait_in_library(both.bench.lanes(), {}, -1, [&] { return both.has_first_ended(); }));
        EXPECT_EQ(both.second.life.state(), task_state::open);
    }
    both.bench.run();
    EXPECT_EQ(both.second.life.state(), task_state::completed);
}

TEST(HandingOver, WhoDroveInsteadOfAReservedWorkerDoesTheSame) {
    chain both;
    both.bench.the_lane().post(both.first);
    {
        const sleeper worker{both.bench.the_lane()};
        EXPECT_TRUE(
            progress_instead(both.bench.the_lane(), 1'000'000, UINT64_MAX, [&] { return both.has_first_ended(); }));
        EXPECT_EQ(both.second.life.state(), task_state::open);
    }
    both.bench.run();
    EXPECT_EQ(both.second.life.state(), task_state::completed);
}

TEST(HandingOver, ACallbackThatWaitsBeginsNoPassInsideThePass) {
    lane_bench bench;
    const auto look = [](const commtask_status* /*status*/, void* lanes) {
        auto& all = *static_cast<lane_set*>(lanes);
        const std::uint64_t n_passes = all.approx_progress_calls();
        EXPECT_FALSE(wait_in_library(all, {}, 1'000'000, [] { return false; }));
        EXPECT_EQ(progress_for_a_moment(all[0], 1, [](bool) { return false; }), progress_result::refused);
        EXPECT_EQ(all.approx_progress_calls(), n_passes);
    };
    bench.post({.tag = fake_transport::completes_at_once, .callback = look, .argument = &bench.lanes()});
    lane& mine = bench.the_lane();
    ASSERT_TRUE(mine.engine.lock.try_acquire()); // as a call of MPI's does that the program makes under commtask-run
    bench.run();
    mine.engine.lock.release();
}

} // namespace
} // namespace commtask::detail::testing
