// SPDX-License-Identifier: Apache-2.0
//
// Posts beside a worker that shares its core: who posts, and finds the progress lock free, issues, up to what a driver must do. The
// test's own thread is the submitter, and nobody drives unless the test says so.
#include "core/lane_set.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace commtask::detail::testing {
namespace {

using tasks = std::vector<task*>;

constexpr int at_once = fake_transport::completes_at_once;
constexpr int a_function = fake_transport::runs_a_function;

[[nodiscard]] lane_settings where_posters_issue() { return {.queue_capacity = 256, .submitters_start = true}; }

/// Counts its calls.
void count(const commtask_status* /*status*/, void* counter) { ++*static_cast<int*>(counter); }

TEST(Posting, IssuesInOrderWithoutAWorker) {
    lane_bench bench{where_posters_issue()};
    turn* const first_place = bench.take_turn();
    turn* const second_place = bench.take_turn();
    task& plain = bench.post();
    task& second = bench.post({.its_turn = second_place});
    EXPECT_EQ(bench.carrier().take_started(), tasks{&plain});
    task& first = bench.post({.its_turn = first_place});
    EXPECT_EQ(bench.carrier().take_started(), (tasks{&first, &second}));
    EXPECT_TRUE(bench.the_lane().engine.approx_has_work());
    EXPECT_FALSE(bench.the_lane().engine.lock.approx_is_taken());
    for (task* const each : {&plain, &first, &second}) bench.complete(*each);
}

TEST(Posting, HandsOverToAWorkerWithACoreOfItsOwn) {
    lane_bench bench{lane_settings{}};
    task& posted = bench.post();
    EXPECT_TRUE(bench.carrier().take_started().empty());
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), tasks{&posted});
    bench.complete(posted);
}

TEST(Posting, HandsOverToTheThreadThatHasTheLock) {
    lane_bench bench{where_posters_issue()};
    lane& shared = bench.the_lane();
    ASSERT_TRUE(shared.engine.lock.try_acquire());
    task* posted = nullptr;
    std::thread{[&] { posted = &bench.post(); }}.join();
    EXPECT_TRUE(bench.carrier().take_started().empty());
    shared.engine.lock.release();
    task& next = bench.post();
    EXPECT_EQ(bench.carrier().take_started(), (tasks{posted, &next})) << "and takes in what others posted before";
    bench.complete(*posted);
    bench.complete(next);
}

TEST(Posting, LeavesWhatRunsAFunctionAndWhatComesAfterItToADriver) {
    lane_bench bench{where_posters_issue()};
    task& before = bench.post();
    task& door = bench.post({.tag = a_function});
    task& after = bench.post();
    EXPECT_EQ(bench.carrier().take_started(), tasks{&before});
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(), (tasks{&door, &after}));
    for (task* const each : {&before, &door, &after}) bench.complete(*each);
}

TEST(Posting, RunsNoCallback) {
    lane_bench bench{where_posters_issue()};
    int n_called = 0;
    task& ends_at_once = bench.post({.tag = at_once, .callback = count, .argument = &n_called});
    task& refused = bench.post({.tag = fake_transport::is_refused, .callback = count, .argument = &n_called});
    EXPECT_EQ(bench.carrier().take_started(), (tasks{&ends_at_once, &refused}));
    EXPECT_EQ(ends_at_once.life.state(), task_state::open);
    EXPECT_EQ(n_called, 0);
    task& doomed = bench.post({.after = {&refused}, .callback = count, .argument = &n_called});
    bench.run();
    EXPECT_EQ(n_called, 3);
    EXPECT_EQ(ends_at_once.life.state(), task_state::completed);
    EXPECT_EQ(refused.life.state(), task_state::failed);
    EXPECT_EQ(doomed.life.state(), task_state::canceled);
}

TEST(Posting, EndsWhatEndsAtOnceIfNoCallbackHearsOfIt) {
    lane_bench bench{where_posters_issue()};
    task& first = bench.post({.tag = at_once});
    EXPECT_EQ(first.life.state(), task_state::completed);
    int n_called = 0;
    task& event = bench.make_event();
    task& heard = bench.post({.after = {&event}, .tag = at_once, .callback = count, .argument = &n_called});
    task& last = bench.post({.after = {&heard}, .tag = at_once});
    bench.signal(event);
    EXPECT_EQ(heard.life.state(), task_state::open);
    bench.run();
    EXPECT_EQ(n_called, 1);
    EXPECT_EQ(last.life.state(), task_state::completed);
}

TEST(Posting, ReleasesNoTaskThatMustNotStart) {
    lane_bench bench{where_posters_issue()};
    task& event = bench.make_event();
    int n_called = 0;
    task& canceled = bench.post({.after = {&event}, .callback = count, .argument = &n_called});
    bench.the_lane().cancel(canceled);
    EXPECT_EQ(n_called, 0);
    bench.run();
    EXPECT_EQ(canceled.life.state(), task_state::canceled);
    EXPECT_EQ(n_called, 1);
    bench.signal(event);
    bench.run();
}

TEST(Posting, WhoSignalsAnEventIssuesWhatWaitedForIt) {
    lane_bench bench{where_posters_issue()};
    task& event = bench.make_event();
    task& waiting = bench.post({.after = {&event}});
    EXPECT_TRUE(bench.carrier().take_started().empty());
    bench.signal(event);
    EXPECT_EQ(bench.carrier().take_started(), tasks{&waiting});
    bench.complete(waiting);
}

TEST(Posting, TakesABoundedPartOfOthersPosts) {
    lane_bench bench{where_posters_issue()};
    lane& shared = bench.the_lane();
    tasks posted;
    ASSERT_TRUE(shared.engine.lock.try_acquire());
    std::thread{[&] {
        for (int i = 0; i < 200; ++i) posted.push_back(&bench.post());
    }}.join();
    shared.engine.lock.release();
    posted.push_back(&bench.post());
    tasks started = bench.carrier().take_started();
    EXPECT_GT(started.size(), 1U);
    EXPECT_LT(started.size(), 100U);
    while (shared.engine.progress()) {}
    for (task* const each : bench.carrier().take_started()) started.push_back(each);
    EXPECT_EQ(started, posted);
    for (task* const each : posted) bench.carrier().land(*each);
    bench.run();
}

TEST(Posting, IsNotForThreadsThatMustNotCallMpi) {
    lanes_bench<2> bench{where_posters_issue()};
    struct job {
        lanes_bench<2>* bench;
        task* posted;
    } job{&bench, nullptr};
    const commtask_callback post_one = [](const commtask_status*, void* argument) {
        auto& mine = *static_cast<struct job*>(argument);
        mine.posted = &mine.bench->post(1);
    };
    bench.post(0, {.tag = at_once, .callback = post_one, .argument = &job});
    EXPECT_TRUE(bench.lanes()[0].engine.progress());
    ASSERT_NE(job.posted, nullptr);
    EXPECT_TRUE(bench.carrier(1).take_started().empty()) << "by the driver of another lane";
    bench.run();
    EXPECT_EQ(bench.carrier(1).take_started(), tasks{job.posted});
    task* inside_mpi = nullptr;
    {
        const refused_waits in_a_function_that_mpi_calls{true};
        inside_mpi = &bench.post(1);
        EXPECT_TRUE(bench.carrier(1).take_started().empty());
    }
    task& outside = bench.post(1);
    EXPECT_EQ(bench.carrier(1).take_started(), (tasks{inside_mpi, &outside}));
    for (task* const each : {job.posted, inside_mpi, &outside}) bench.carrier(1).land(*each);
    bench.run();
}

TEST(Posting, WhatThePosterIssuedIsLookedAfterByTheWorker) {
    for (const bool has_heavy_barrier : {false, true}) {
        lane_settings settings = where_posters_issue();
        settings.has_heavy_barrier = has_heavy_barrier && register_heavy_barrier();
        lane_bench bench{settings};
        lane& shared = bench.the_lane();
        const worker beside{shared, {.is_reserved = false, .wait_max_ns = 200'000, .on_start = {}}};
        for (int i = 0; i < 100; ++i) {
            // In deep sleep, most of the times.
            while (i % 4 != 0 && !shared.wake_up.approx_waits()) std::this_thread::yield();
            task& posted = bench.post();
            shared.engine.lock.acquire_first();
            bench.carrier().land(posted);
            shared.engine.lock.release();
            while (posted.life.state() == task_state::open) std::this_thread::yield(); // and nobody drives here
            bench.drop(posted);
        }
    }
}

} // namespace
} // namespace commtask::detail::testing
