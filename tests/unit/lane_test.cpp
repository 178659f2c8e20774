// SPDX-License-Identifier: Apache-2.0
//
// The progress logic over a fake transport: dependences, failure, cancellation and program order, in every order of
// events that can be written down. One thread plays both sides, so each case is the same at every run.
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <thread>

namespace commtask::detail::testing {
namespace {

using tasks = std::vector<task*>;

task_state state_of(const task& which) { return which.life.state(); }

TEST(Lane, StartsIndependentTasksInTheOrderOfTheirPosts) {
    lane_bench bench;
    task& first = bench.post();
    task& second = bench.post();
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), (tasks{&first, &second}));
    bench.complete(second);
    EXPECT_EQ(state_of(first), task_state::open);
    EXPECT_EQ(state_of(second), task_state::completed);
    bench.complete(first);
}

TEST(Lane, StartsASuccessorOnlyAfterItsLastPredecessorInEveryOrder) {
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
        SCOPED_TRACE(::testing::PrintToString(order));
        lane_bench bench;
        const tasks halos{&bench.post(), &bench.post(), &bench.post()};
        task& send = bench.post({.after = halos});
        bench.run();
        EXPECT_EQ(bench.carrier().take_started(), halos);
        bench.complete(*halos[order[0]]);
        bench.complete(*halos[order[1]]);
        EXPECT_TRUE(bench.carrier().take_started().empty());
        bench.complete(*halos[order[2]]);
        EXPECT_EQ(bench.carrier().take_started(), tasks{&send});
        bench.complete(send);
    } while (std::ranges::next_permutation(order).found);
}

TEST(Lane, StartsASuccessorOfATaskThatEndedBeforeItWasPosted) {
    lane_bench bench;
    task& early = bench.post({.tag = fake_transport::completes_at_once});
    bench.run();
    task& late = bench.post({.after = {&early}, .tag = fake_transport::completes_at_once});
    bench.run();
    EXPECT_EQ(state_of(late), task_state::completed);
}

TEST(Lane, NeverStartsTheSuccessorsOfAFailedOperation) {
    lane_bench bench;
    task& failing = bench.post();
    task& unrelated = bench.post();
    task& child = bench.post({.after = {&failing}});
    task& grandchild = bench.post({.after = {&child, &unrelated}});
    bench.run();
    static_cast<void>(bench.carrier().take_started());
    bench.complete(failing, {.error = 7});
    bench.complete(unrelated);
    EXPECT_TRUE(bench.carrier().take_started().empty());
    EXPECT_EQ(state_of(failing), task_state::failed);
    EXPECT_EQ(state_of(child), task_state::canceled);
    EXPECT_EQ(state_of(grandchild), task_state::canceled);
    EXPECT_EQ(state_of(unrelated), task_state::completed);
}

TEST(Lane, CancelsASuccessorPostedAfterTheFailure) {
    lane_bench bench;
    task& failing = bench.post({.tag = fake_transport::is_refused});
    bench.run();
    EXPECT_EQ(state_of(failing), task_state::failed);
    task& late = bench.post({.after = {&failing}});
    bench.run();
    EXPECT_EQ(state_of(late), task_state::canceled);
}

TEST(Lane, RunsASuccessorAfterAFailureWhereItWasAskedTo) {
    lane_bench bench;
    task& failing = bench.post({.tag = fake_transport::is_refused});
    task& brave = bench.post(
        {.after = {&failing}, .flags = COMMTASK_RUN_AFTER_FAILURE, .tag = fake_transport::completes_at_once});
    bench.run();
    EXPECT_EQ(state_of(brave), task_state::completed);
}

/// What a callback was told. With the flag the rest of a completed task's status is not written, so nobody may read it.
struct notes {
    bool reads_state_alone;
    std::vector<commtask_status> heard{};
};
void note(const commtask_status* status, void* argument) {
    notes& here = *static_cast<notes*>(argument);
    commtask_status state_alone = COMMTASK_STATUS_INIT;
    state_alone.state = status->state;
    const bool is_short = here.reads_state_alone && status->state == COMMTASK_STATE_COMPLETED;
    here.heard.push_back(is_short ? state_alone : *status);
}

TEST(Lane, TellsACallbackThatReadsTheStateAloneAllOfWhatDidNotComplete) {
    for (const bool reads_state_alone : {false, true}) {
        SCOPED_TRACE(reads_state_alone);
        notes here{reads_state_alone};
        lane_bench bench;
        task_plan plan{.flags = reads_state_alone ? std::uint32_t{COMMTASK_CALLBACK_STATE} : 0,
                       .callback = note,
                       .argument = &here};
        task& fine = bench.post(plan);
        task& failing = bench.post(plan);
        plan.after = {&failing};
        bench.post(plan);
        bench.run();
        bench.complete(fine, {.source = 3, .tag = 5, .bytes = 16});
        bench.complete(failing, {.error = 7, .error_class = 2, .source = 4, .tag = 6, .bytes = 8});
        ASSERT_EQ(here.heard.size(), 3U);
        const auto [whole, failed, canceled] = std::array{here.heard[0], here.heard[1], here.heard[2]};
        EXPECT_EQ(whole.state, COMMTASK_STATE_COMPLETED);
        if (!reads_state_alone) {
            EXPECT_EQ(whole.error, 0);
            EXPECT_EQ((std::array{whole.source, whole.tag}), (std::array{3, 5}));
            EXPECT_EQ(whole.bytes, 16);
        }
        EXPECT_EQ(failed.state, COMMTASK_STATE_FAILED);
        EXPECT_EQ((std::array{failed.error, failed.error_class, failed.source, failed.tag}), (std::array{7, 2, 4, 6}));
        EXPECT_EQ(failed.bytes, 8);
        EXPECT_EQ(canceled.state, COMMTASK_STATE_CANCELED);
        EXPECT_EQ(canceled.error, 0);
    }
}

TEST(Lane, WritesNothingButTheStateForACallbackThatReadsNoMore) {
    lane_bench bench;
    task& done = bench.post({.tag = fake_transport::completes_at_once});
    bench.run();
    constexpr int untouched = 77;
    for (const bool reads_state_alone : {true, false}) {
        commtask_status status = COMMTASK_STATUS_INIT;
        status.tag = untouched;
        fill_for_callback(done, task_state::completed, reads_state_alone, status);
        EXPECT_EQ(status.state, COMMTASK_STATE_COMPLETED);
        EXPECT_EQ(status.tag == untouched, reads_state_alone);
        fill_for_callback(done, task_state::failed, reads_state_alone, status);
        EXPECT_EQ(status.tag, done.result.tag);
    }
}

TEST(Lane, EndsAChainOfAHundredThousandWithoutRecursion) {
    lane_bench bench{128};
    for (const int first_tag : {fake_transport::completes_at_once, fake_transport::is_refused}) {
        task* last = &bench.post({.tag = 1});
        task* const first = last;
        bench.run();
        for (int i = 0; i < 100'000; ++i) {
            last = &bench.post({.after = {last}, .tag = fake_transport::completes_at_once});
            if (i % 64 == 0) bench.run();
        }
        bench.run();
        bench.complete(*first, {.error = first_tag == fake_transport::is_refused ? 1 : 0});
        EXPECT_EQ(state_of(*last),
                  first_tag == fake_transport::is_refused ? task_state::canceled : task_state::completed);
    }
}

TEST(Lane, HoldsOrderedTasksUntilTheirTurnInEveryOrderOfReadiness) {
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    do {
        SCOPED_TRACE(::testing::PrintToString(order));
        lane_bench bench;
        tasks events;
        tasks ordered;
        for (int i = 0; i < 4; ++i) {
            events.push_back(&bench.make_event());
            ordered.push_back(&bench.post(
                {.after = {events.back()}, .its_turn = bench.take_turn(), .tag = fake_transport::completes_at_once}));
        }
        bench.run();
        for (const std::size_t i : order) {
            lane_bench::signal(*events[i]);
            bench.run();
        }
        EXPECT_EQ(bench.carrier().take_started(), ordered);
    } while (std::ranges::next_permutation(order).found);
}

TEST(Lane, LetsMessagesPassACollectiveThatIsNotReady) {
    lane_bench bench;
    task& event = bench.make_event();
    task& collective = bench.post({.after = {&event}, .its_turn = bench.take_turn(COMMTASK_OP_BARRIER)});
    task& ordered_message = bench.post({.its_turn = bench.take_turn()});
    task& message = bench.post();
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), (tasks{&ordered_message, &message}));
    lane_bench::signal(event);
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), tasks{&collective});
    for (task* started : {&collective, &ordered_message, &message}) bench.complete(*started);
}

TEST(Lane, GivesThePlaceOfACanceledOrderedTaskToTheNext) {
    lane_bench bench;
    task& failing = bench.post();
    task& doomed = bench.post({.after = {&failing}, .its_turn = bench.take_turn()});
    task& next = bench.post({.its_turn = bench.take_turn(), .tag = fake_transport::completes_at_once});
    bench.run();
    EXPECT_EQ(state_of(next), task_state::open);
    bench.complete(failing, {.error = 1});
    EXPECT_EQ(state_of(doomed), task_state::canceled);
    EXPECT_EQ(state_of(next), task_state::completed);
}

TEST(Lane, HoldsOrderedTasksWhileAnEarlierTicketIsOut) {
    lane_bench bench;
    turn* const early = bench.take_turn();
    task& late = bench.post({.its_turn = bench.take_turn(), .tag = fake_transport::completes_at_once});
    bench.run();
    EXPECT_EQ(state_of(late), task_state::open);
    EXPECT_NE(bench.the_lane().incomplete.table("in a test").find("waits for its turn behind noop"), std::string::npos);
    bench.post({.its_turn = early, .tag = fake_transport::completes_at_once});
    bench.run();
    EXPECT_EQ(state_of(late), task_state::completed);
}

TEST(Lane, CancelsAWaitingTaskAtOnceAndSurvivesItsPredecessors) {
    lane_bench bench;
    task& predecessor = bench.post();
    task& waiting = bench.post({.after = {&predecessor}});
    task& follower = bench.post({.after = {&waiting}});
    bench.run();
    bench.the_lane().cancel(waiting);
    bench.run();
    EXPECT_EQ(state_of(waiting), task_state::canceled);
    EXPECT_EQ(state_of(follower), task_state::canceled);
    bench.complete(predecessor);
    EXPECT_EQ(state_of(predecessor), task_state::completed);
}

TEST(Lane, CancelsATaskThatItHasNotSeenYet) {
    lane_bench bench;
    task& unseen = bench.make();
    bench.the_lane().cancel(unseen);
    bench.the_lane().post(unseen);
    bench.run();
    EXPECT_EQ(state_of(unseen), task_state::canceled);
    EXPECT_TRUE(bench.carrier().take_started().empty());
}

TEST(Lane, WithdrawsAStartedTaskOnce) {
    lane_bench bench;
    task& started = bench.post();
    bench.run();
    bench.the_lane().cancel(started);
    bench.run();
    EXPECT_EQ(state_of(started), task_state::canceled);
    EXPECT_EQ(bench.carrier().cleaned(), tasks{&started});
}

TEST(Lane, CallsBackBeforeTheStateIsFinal) {
    lane_bench bench;
    struct seen {
        task* which = nullptr;
        task_state state = task_state::abandoned;
        int calls = 0;
    } seen;
    const commtask_callback look = [](const commtask_status* status, void* argument) {
        auto& noted = *static_cast<struct seen*>(argument);
        EXPECT_EQ(status->state, COMMTASK_STATE_COMPLETED);
        noted.state = noted.which->life.state();
        ++noted.calls;
    };
    task& which = bench.make({.tag = fake_transport::completes_at_once, .callback = look, .argument = &seen});
    seen.which = &which;
    bench.the_lane().post(which);
    bench.run();
    EXPECT_EQ(seen.state, task_state::open);
    EXPECT_EQ(seen.calls, 1);
    EXPECT_EQ(state_of(which), task_state::completed);
}

TEST(Lane, DoesNotLetItsWorkerSleepBeforeItHasSaidThatNothingIsLeft) {
    lane_bench bench;
    bench.post({.tag = fake_transport::completes_at_once});
    bench.run();
    EXPECT_FALSE(bench.the_lane().has_arrivals());
    bench.the_lane().watch_drain(); // between the worker's last pass and its sleep
    EXPECT_TRUE(bench.the_lane().has_arrivals());
    bench.run();
    EXPECT_FALSE(bench.the_lane().has_arrivals());
    EXPECT_TRUE(bench.the_lane().was_quiet());
}

TEST(Lane, TakesPostsFromACallbackEvenThroughAFullInbox) {
    lane_bench bench{64};
    struct posting {
        lane_bench* bench;
        tasks posted{};
    } posting{&bench};
    const commtask_callback post_many = [](const commtask_status*, void* argument) {
        auto& job = *static_cast<struct posting*>(argument);
        for (int i = 0; i < 1000; ++i) {
            job.posted.push_back(&job.bench->post({.tag = fake_transport::completes_at_once}));
        }
    };
    bench.post({.tag = fake_transport::completes_at_once, .callback = post_many, .argument = &posting});
    bench.run();
    tasks started = bench.carrier().take_started();
    started.erase(started.begin());
    EXPECT_EQ(started, posting.posted);
    bench.the_lane().watch_drain();
    bench.run();
    EXPECT_TRUE(bench.the_lane().was_quiet());
}

TEST(Lane, ListsWhatIsUnfinishedAndGivesItUp) {
    lane_bench bench;
    task& event = bench.make_event();
    task& flying = bench.post({.tag = 11});
    task& waiting = bench.post({.after = {&event}, .tag = 12});
    task& behind = bench.post({.after = {&flying}, .tag = 13});
    bench.run();
    const std::string table = bench.the_lane().incomplete.table("in a test");
    EXPECT_NE(table.find("3 tasks unfinished"), std::string::npos) << table;
    EXPECT_NE(table.find("task 11; in flight"), std::string::npos) << table;
    EXPECT_NE(table.find("task 12; after an event with 1 signal missing"), std::string::npos) << table;
    EXPECT_NE(table.find("task 13; after task 11"), std::string::npos) << table;
    bench.the_lane().ending.abandon(any_task);
    EXPECT_EQ(state_of(flying), task_state::abandoned);
    for (const task* lost : {&waiting, &behind}) EXPECT_EQ(state_of(*lost), task_state::canceled);
    EXPECT_EQ(bench.the_lane().incomplete.table("in a test"), "");
}

TEST(Lane, APostBeforeProgressEndsALongWaitAndNoShortOne) {
    lane_bench bench;
    wakeup& wake_up = bench.the_lane().wake_up;
    constexpr std::int64_t too_long_ns = 20'000'000'000;
    const auto nothing = [] { return false; };
    const task_plan driven_by_caller{.flags = COMMTASK_PROGRESS_FOLLOWS, .tag = fake_transport::completes_at_once};
    const auto until_asleep = [&] {
        while (!wake_up.approx_waits()) std::this_thread::yield();
    };
    EXPECT_EQ(wake_up.wait(worker_state::waiting, 1, nothing), worker_state::waiting);
    std::thread napper{
        [&] { EXPECT_EQ(wake_up.wait(worker_state::waiting, too_long_ns, nothing), worker_state::awake); }};
    until_asleep();
    bench.post(driven_by_caller);
    EXPECT_TRUE(wake_up.approx_waits());
    bench.post({.tag = fake_transport::completes_at_once});
    napper.join();
    std::thread sleeper{[&] { wake_up.wait(worker_state::blocked, too_long_ns, nothing); }};
    until_asleep();
    bench.post(driven_by_caller);
    sleeper.join();
    bench.run();
}

TEST(Lane, ListsNoTaskInThePlaceOfAPredecessorThatHasEnded) {
    lane_bench bench;
    task& event = bench.make_event();
    task& ended_before = bench.post({.tag = fake_transport::completes_at_once});
    task& ended_after = bench.post({.tag = 21});
    bench.run();
    bench.post({.after = {&ended_before, &ended_after, &event}, .tag = 22});
    bench.run();
    bench.complete(ended_after);
    const std::set<const task*> gone{&ended_before, &ended_after};
    bench.drop(ended_before);
    bench.drop(ended_after);
    int n_reused = 0;
    for (int i = 0; i < 1000 && n_reused < 2; ++i) {
        n_reused += gone.contains(&bench.post({.tag = 23})) ? 1 : 0;
        bench.run(); // makes room for the next
    }
    ASSERT_EQ(n_reused, 2) << "no task got the places of those that ended: this test shows nothing";
    const std::string table = bench.the_lane().incomplete.table("in a test");
    EXPECT_NE(table.find("task 22; after an event with 1 signal missing"), std::string::npos) << table;
    bench.the_lane().ending.abandon(any_task);
}

} // namespace
} // namespace commtask::detail::testing
