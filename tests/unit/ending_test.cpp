// SPDX-License-Identifier: Apache-2.0
//
// Giving tasks up, all or some: whatever state they are in they end with their callback, and the others go on. The second is
// what a program needs that ends its own use under the interposer.
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace commtask::detail::testing {
namespace {

[[nodiscard]] task_state state_of(const task& which) { return which.life.state(); }
[[nodiscard]] bool is_odd(const task& which) { return which.op.send_tag % 2 == 1; }

TEST(Ending, CallsTheCallbacksOfWhatItGivesUpAsADriver) {
    struct witness {
        int n_calls = 0;
        int n_driving = 0;
    } seen;
    lane_bench bench;
    task& event = bench.make_event();
    const auto look = [](const commtask_status* status, void* argument) {
        auto& mine = *static_cast<witness*>(argument);
        EXPECT_EQ(status->state, COMMTASK_STATE_CANCELED);
        ++mine.n_calls;
        mine.n_driving += in_progress_call() ? 1 : 0;
    };
    bench.post({.tag = 11, .callback = look, .argument = &seen});
    bench.post({.after = {&event}, .tag = 12, .callback = look, .argument = &seen});
    bench.run();
    bench.the_lane().ending.abandon(any_task);
    EXPECT_EQ(seen.n_calls, 2);
    EXPECT_EQ(seen.n_driving, 2);
}

TEST(Ending, LetsTheOthersGoOn) {
    lane_bench bench;
    task& event = bench.make_event();
    task& flying_lost = bench.post({.tag = 11});
    task& flying = bench.post({.tag = 12});
    task& first_in_order = bench.post({.after = {&event}, .its_turn = bench.take_turn(), .tag = 13});
    task& second_in_order = bench.post({.its_turn = bench.take_turn(), .tag = 14});
    task& held_lost = bench.post({.its_turn = bench.take_turn(), .tag = 15});
    task& third_in_order = bench.post({.its_turn = bench.take_turn(), .tag = 16});
    bench.run();
    EXPECT_EQ(bench.the_lane().incomplete.count(is_odd).all, 3U);
    bench.the_lane().ending.abandon(is_odd);
    bench.run();
    EXPECT_EQ(bench.the_lane().incomplete.count(is_odd).all, 0U);
    EXPECT_EQ(state_of(flying_lost), task_state::abandoned);
    for (const task* lost : {&first_in_order, &held_lost}) EXPECT_EQ(state_of(*lost), task_state::canceled);
    for (task* other : {&flying, &second_in_order, &third_in_order}) {
        EXPECT_EQ(state_of(*other), task_state::open);
        bench.complete(*other);
        EXPECT_EQ(state_of(*other), task_state::completed);
    }
    lane_bench::signal(event); // a late one
    bench.run();
}

TEST(Ending, SeesWhatCouldStillMove) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    EXPECT_FALSE(mine.ending.could_still_move(any_task));
    task& first = bench.post({.tag = 11});
    EXPECT_TRUE(mine.ending.could_still_move(any_task)); // and leaves it to a pass
    EXPECT_TRUE(bench.carrier().take_started().empty());
    bench.run();
    EXPECT_FALSE(mine.ending.could_still_move(any_task));
    task& second = bench.post({.after = {&first}, .tag = 12});
    bench.run();
    bench.carrier().land(first);
    EXPECT_TRUE(mine.ending.could_still_move(any_task));
    EXPECT_EQ(state_of(first), task_state::completed);
    EXPECT_TRUE(mine.ending.could_still_move(any_task));
    bench.run();
    bench.complete(second);
}

TEST(Ending, AsksWhetherSomeCouldStillMoveWhateverTheOthersDo) {
    lane_bench bench;
    lane& mine = bench.the_lane();
    task& event = bench.make_event();
    task& other = bench.post({.tag = 12});
    bench.post({.after = {&event}, .tag = 11});
    task& behind = bench.post({.after = {&other}, .tag = 13});
    bench.run();
    EXPECT_FALSE(mine.ending.could_still_move(is_odd));
    bench.post({.tag = 14});
    mine.engine.accept_all();
    EXPECT_FALSE(mine.ending.could_still_move(is_odd)) << "what is ready is none of these";
    bench.carrier().land(other);
    EXPECT_TRUE(mine.ending.could_still_move(is_odd)) << "what is behind it is ready";
    bench.run();
    bench.complete(behind);
    EXPECT_FALSE(mine.ending.could_still_move(is_odd));
    lane_bench::signal(event);
    EXPECT_TRUE(mine.ending.could_still_move(is_odd));
    bench.run();
}

TEST(Ending, TakesInWhatWasPostedAndStartsNothing) {
    lane_bench bench;
    bench.post({.tag = 11});
    bench.post({.tag = testing::fake_transport::completes_at_once});
    bench.the_lane().engine.accept_all();
    EXPECT_TRUE(bench.carrier().take_started().empty());
    EXPECT_EQ(bench.the_lane().incomplete.count(any_task).ready, 2U);
    EXPECT_FALSE(bench.the_lane().has_arrivals());
    bench.run();
    EXPECT_EQ(bench.carrier().take_started().size(), 2U);
}

TEST(Ending, SendsExternalCallersAwayThatWaitForALaneThatWasLeft) {
    lane_bench bench;
    ASSERT_TRUE(bench.the_lane().engine.lock.try_acquire());
    std::atomic<bool> has_lock{true};
    std::thread caller{[&] { has_lock = bench.lanes().acquire_all_locks(); }};
    bench.the_lane().engine.abandon(); // whether the caller waits already or not
    caller.join();
    EXPECT_FALSE(has_lock);
}

TEST(Ending, LetsNobodyDriveALaneThatWasLeftAlsoWhenItsLockComesBack) {
    lane_bench bench;
    ASSERT_TRUE(bench.the_lane().engine.lock.try_acquire());
    bench.the_lane().engine.abandon();
    bench.the_lane().engine.lock.release();
    EXPECT_FALSE(bench.the_lane().engine.lock.try_acquire());
    EXPECT_FALSE(bench.lanes().acquire_all_locks());
}

TEST(Ending, LetsAPosterGoWhoFindsNoRoomInALaneThatWasLeft) {
    constexpr std::size_t capacity = 64;
    lane_bench bench{capacity};
    for (std::size_t i = 0; i < capacity; ++i) bench.post();
    ASSERT_FALSE(bench.the_lane().try_post(bench.make()));
    std::thread submitter{[&] { bench.post_unheld(0, {}); }};
    bench.the_lane().engine.abandon(); // whether the submitter waits already or not
    submitter.join();
}

} // namespace
} // namespace commtask::detail::testing
