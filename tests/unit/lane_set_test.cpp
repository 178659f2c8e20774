// SPDX-License-Identifier: Apache-2.0
//
// Two and three lanes over fake transports: edges, failures and cancels that cross lanes, drivers that post to each other
// through full inboxes, threads that wait for tasks of any lane, and the end of all of them.
#include "core/waiting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

namespace commtask::detail::testing {
namespace {

constexpr int at_once = fake_transport::completes_at_once;

using tasks = std::vector<task*>;

TEST(LaneSet, StartsASuccessorAfterPredecessorsOfAllLanesInEveryOrder) {
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
        lanes_bench<3> bench;
        const tasks halos{&bench.post(0), &bench.post(1), &bench.post(2)};
        task& last = bench.post(1, {.after = halos});
        bench.run();
        for (const std::size_t i : {0U, 1U, 2U}) static_cast<void>(bench.carrier(i).take_started());
        for (const std::size_t step : {0U, 1U, 2U}) {
            SCOPED_TRACE(::testing::Message() << "order " << order[0] << order[1] << order[2] << ", step " << step);
            EXPECT_TRUE(bench.carrier(1).take_started().empty());
            bench.carrier(order[step]).land(*halos[order[step]]);
            bench.run();
        }
        EXPECT_EQ(bench.carrier(1).take_started(), tasks{&last});
        bench.carrier(1).land(last);
        bench.run();
    } while (std::ranges::next_permutation(order).found);
}

TEST(LaneSet, CancelsSuccessorsOnOtherLanes) {
    lanes_bench<2> bench;
    task& failing = bench.post(0);
    task& child = bench.post(1, {.after = {&failing}});
    task& grandchild = bench.post(0, {.after = {&child}});
    bench.run();
    bench.carrier(0).land(failing, {.error = 7});
    bench.run();
    EXPECT_EQ(child.life.state(), task_state::canceled);
    EXPECT_EQ(grandchild.life.state(), task_state::canceled);
}

TEST(LaneSet, KeepsTheOrderOfADriversPostsThroughAFullInbox) {
    lanes_bench<2> bench{8};
    struct job {
        lanes_bench<2>* bench;
        tasks posted{};
    } job{&bench};
    // More than the inbox of the other lane holds, by a driver that must not wait for it.
    const commtask_callback post_many = [](const commtask_status*, void* argument) {
        auto& mine = *static_cast<struct job*>(argument);
        for (int i = 0; i < 100; ++i) mine.posted.push_back(&mine.bench->post(1, {.tag = at_once}));
    };
    job.posted.push_back(&bench.post(1, {.tag = at_once}));
    bench.post(0, {.tag = at_once, .callback = post_many, .argument = &job});
    while (bench.lanes()[0].engine.progress()) {}
    ASSERT_EQ(job.posted.size(), 101U);
    bench.run();
    EXPECT_EQ(bench.carrier(1).take_started(), job.posted);
    // The cells of those that came another way are in order for the laps to come.
    tasks more;
    for (int i = 0; i < 50; ++i) {
        more.push_back(&bench.post(1, {.tag = at_once}));
        bench.run();
    }
    EXPECT_EQ(bench.carrier(1).take_started(), more);
}

TEST(LaneSet, SaysThatItCanMoveUntilTheLastTaskPastAFullInboxIsIn) {
    lanes_bench<2> bench{8};
    const commtask_callback post_many = [](const commtask_status*, void* argument) {
        // More than a pass takes in beside what the inbox has.
        for (int i = 0; i < 200; ++i) static_cast<lanes_bench<2>*>(argument)->post(1, {.tag = at_once});
    };
    bench.post(0, {.tag = at_once, .callback = post_many, .argument = &bench});
    while (bench.lanes()[0].engine.progress()) {}
    lane& other = bench.lanes()[1];
    std::size_t n_started = 0;
    for (int n_passes = 1; n_started < 200; ++n_passes) {
        SCOPED_TRACE(n_passes);
        ASSERT_TRUE(other.could_move()) << "a worker that looks on would leave " << 200 - n_started << " tasks";
        static_cast<void>(other.engine.progress());
        n_started += bench.carrier(1).take_started().size();
        if (n_passes == 1) {
            EXPECT_LT(n_started, 200U) << "one pass took all: this test shows nothing";
        }
    }
    EXPECT_FALSE(other.could_move());
}

TEST(LaneSet, TwoDriversThatPostToEachOtherDoNotWait) {
    lanes_bench<2> bench{8};
    struct job {
        lanes_bench<2>* bench;
        std::size_t to;
        std::atomic<int>* n_in;
        std::atomic<int> n_called{0};
    };
    std::atomic<int> n_in{0};
    std::array<job, 2> jobs{job{&bench, 1, &n_in}, job{&bench, 0, &n_in}};
    const commtask_callback count = [](const commtask_status*, void* argument) {
        ++*static_cast<std::atomic<int>*>(argument);
    };
    static const commtask_callback counted = count;
    const commtask_callback post_many = [](const commtask_status*, void* argument) {
        auto& mine = *static_cast<job*>(argument);
        // Both are in their callbacks before either posts, so neither lane can take anything out.
        ++*mine.n_in;
        while (*mine.n_in < 2) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) {
            mine.bench->post_unheld(mine.to, {.tag = at_once, .callback = counted, .argument = &mine.n_called});
        }
    };
    for (const std::size_t from : {0U, 1U})
        bench.post(from, {.tag = at_once, .callback = post_many, .argument = &jobs[from]});
    for (const std::size_t i : {0U, 1U}) bench.lanes().start_worker(i, {.is_reserved = false, .on_start = {}});
    bench.lanes().watch_drain();
    constexpr std::int64_t patience_ns = 20'000'000'000;
    EXPECT_TRUE(wait_in_library(bench.lanes(), {}, patience_ns, [&] { return bench.lanes().is_quiet(); }));
    EXPECT_EQ(jobs[0].n_called, 100);
    EXPECT_EQ(jobs[1].n_called, 100);
    bench.lanes().stop_workers();
}

TEST(LaneSet, IsNotQuietWhileATaskMovesBehindTheOneWhoLooks) {
    lanes_bench<2> bench;
    task& first = bench.post(1);
    task& second = bench.post(0, {.after = {&first}});
    bench.run();
    bench.lanes().watch_drain();
    bench.run();
    EXPECT_FALSE(bench.lanes().is_quiet());
    bench.carrier(1).land(first);
    while (bench.lanes()[1].engine.progress()) {
    } // lane 1 has nothing left; lane 0 has been handed its task, and has not looked
    EXPECT_FALSE(bench.lanes().is_quiet());
    bench.run();
    bench.carrier(0).land(second);
    EXPECT_FALSE(bench.lanes().is_quiet());
    bench.run();
    EXPECT_TRUE(bench.lanes().is_quiet());
}

TEST(LaneSet, WhoWaitsDrivesAllLanes) {
    lanes_bench<3> bench;
    task& first = bench.post(2, {.tag = at_once});
    task& last = bench.post(0, {.after = {&bench.post(1, {.after = {&first}, .tag = at_once})}, .tag = at_once});
    EXPECT_TRUE(wait_in_library(bench.lanes(), {}, -1, [&] { return last.life.state() == task_state::completed; }));
}

} // namespace
} // namespace commtask::detail::testing
