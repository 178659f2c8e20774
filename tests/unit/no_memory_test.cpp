// SPDX-License-Identifier: Apache-2.0
//
// A driver that gets no memory goes on: tasks that wait for their turn are kept in lists through themselves, and whoever
// would write a warning writes none. The pool refuses, and loses no slot.
#include "failing_memory.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace commtask::detail::testing {
namespace {

using test::no_memory;

class NoMemory : public ::testing::Test {
protected:
    lane_bench bench_{256};
};

[[nodiscard]] bool is_canceled_while_it_waits(std::size_t i) { return i % 5 == 4; }
[[nodiscard]] bool is_canceled_before_it_is_ready(std::size_t i) { return i % 7 == 3; }

TEST_F(NoMemory, OrderedTasksAreStartedInOrderWithoutRoomForTheirPlaces) {
    constexpr std::size_t n_tasks = 50;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        lane_bench bench{256};
        // The first place comes last, when there is memory again: the fake transport needs some to start a task.
        task& first_gate = bench.make_event();
        std::vector<task*> expected{&bench.post({.after = {&first_gate}, .its_turn = bench.take_turn()})};
        std::vector<task*> gates;
        std::vector<task*> ordered;
        std::vector<std::size_t> readiness;
        for (std::size_t i = 0; i < n_tasks; ++i) {
            gates.push_back(&bench.make_event());
            ordered.push_back(&bench.post({.after = {gates[i]}, .its_turn = bench.take_turn()}));
            readiness.push_back(i);
            const bool runs = !is_canceled_while_it_waits(i) && !is_canceled_before_it_is_ready(i);
            if (runs) expected.push_back(ordered[i]);
        }
        bench.run();
        std::shuffle(readiness.begin(), readiness.end(), std::mt19937{seed});
        {
            const no_memory scope;
            for (const std::size_t i : readiness) {
                if (is_canceled_before_it_is_ready(i)) bench.the_lane().cancel(*ordered[i]);
                lane_bench::signal(*gates[i]);
                static_cast<void>(bench.the_lane().engine.progress());
                if (is_canceled_while_it_waits(i)) bench.the_lane().cancel(*ordered[i]);
                static_cast<void>(bench.the_lane().engine.progress());
            }
        }
        EXPECT_TRUE(bench.carrier().take_started().empty());
        lane_bench::signal(first_gate);
        bench.run();
        EXPECT_EQ(bench.carrier().take_started(), expected) << "seed " << seed;
        for (task* const each : expected) bench.complete(*each);
        for (const task* const each : ordered) EXPECT_NE(each->life.state(), task_state::open);
    }
}

[[nodiscard]] bool has_odd_tag(const task& which) { return which.op.send_tag % 2 == 1; }

TEST_F(NoMemory, WhatIsGivenUpWithoutRoomForItsPlaceLetsTheOthersGoOn) {
    constexpr std::size_t n_tasks = 40;
    task& first_gate = bench_.make_event();
    task& never = bench_.make_event();
    std::vector<task*> expected{&bench_.post({.after = {&first_gate}, .its_turn = bench_.take_turn()})};
    std::vector<task*> lost{&bench_.post({.tag = 1})}; // in flight
    std::vector<task*> gates;
    for (std::size_t i = 0; i < n_tasks; ++i) {
        const bool is_lost = i % 2 == 1;
        // Half of the lost ones hold a place, and half wait for what will not come.
        task& gate = is_lost && i % 4 == 1 ? never : bench_.make_event();
        if (&gate != &never) gates.push_back(&gate);
        task& made = bench_.post({.after = {&gate}, .its_turn = bench_.take_turn(), .tag = is_lost ? 1 : 2});
        (is_lost ? lost : expected).push_back(&made);
    }
    bench_.run();
    EXPECT_EQ(bench_.carrier().take_started(), (std::vector<task*>{lost.front()}));
    ::testing::internal::CaptureStderr();
    {
        const no_memory scope;
        for (task* const gate : gates) lane_bench::signal(*gate);
        static_cast<void>(bench_.the_lane().engine.progress());
        const incomplete_tasks::counts open = bench_.the_lane().incomplete.count(has_odd_tag);
        EXPECT_EQ(open.all, lost.size());
        EXPECT_EQ(open.in_flight, 1U);
        EXPECT_TRUE(bench_.the_lane().incomplete.print("in a test", has_odd_tag));
        bench_.the_lane().ending.abandon(has_odd_tag);
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("21 tasks unfinished, in a test; no memory"), std::string::npos) << said;
    for (const task* const each : lost) EXPECT_NE(each->life.state(), task_state::open);
    lane_bench::signal(first_gate);
    bench_.run();
    EXPECT_EQ(bench_.carrier().take_started(), expected);
    for (task* const each : expected) bench_.complete(*each);
    lane_bench::signal(never); // too late
    bench_.run();
}

TEST_F(NoMemory, WhoWaitsForATurnIsCanceledOnceThereIsMemoryAgain) {
    task& gate = bench_.make_event();
    task& first = bench_.post({.after = {&gate}, .its_turn = bench_.take_turn()});
    task& second = bench_.post({.its_turn = bench_.take_turn()});
    task& third = bench_.post({.its_turn = bench_.take_turn()});
    {
        const no_memory scope;
        static_cast<void>(bench_.the_lane().engine.progress());
    }
    bench_.the_lane().cancel(second);
    bench_.run();
    EXPECT_EQ(second.life.state(), task_state::canceled) << "its turn has not come";
    lane_bench::signal(gate);
    bench_.run();
    EXPECT_EQ(bench_.carrier().take_started(), (std::vector<task*>{&first, &third}));
    bench_.complete(first);
    bench_.complete(third);
}

TEST_F(NoMemory, ACallbackPostsMoreThanTheQueueHolds) {
    lane_bench bench{64};
    struct posting {
        lane* where;
        std::vector<task*> tasks;
    } later{&bench.the_lane(), {}};
    for (int i = 0; i < 500; ++i) {
        later.tasks.push_back(&bench.make({.after = {}, .tag = fake_transport::completes_at_once}));
    }
    const auto post_all = [](const commtask_status* /*status*/, void* argument) {
        const auto& what = *static_cast<posting*>(argument);
        const no_memory scope;
        for (task* const each : what.tasks) what.where->post(*each);
    };
    bench.post({.tag = fake_transport::completes_at_once, .callback = post_all, .argument = &later});
    bench.run();
    EXPECT_TRUE(
        std::ranges::all_of(later.tasks, [](const task* each) { return each->life.state() == task_state::completed; }));
}

TEST_F(NoMemory, TheListOfUnfinishedTasksIsLeftOut) {
    bench_.post();
    bench_.run();
    bench_.the_lane().request_list("no task has ended for a while");
    ::testing::internal::CaptureStderr();
    {
        const no_memory scope;
        static_cast<void>(bench_.the_lane().engine.progress());
    }
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("no memory"), std::string::npos);
}

/// Before main: nobody has used the pool.
const bool the_first_is_refused = [] {
    const no_memory scope;
    return task_pool::acquire() == nullptr;
}();

TEST_F(NoMemory, ThePoolRefusesItsFirstUser) { EXPECT_TRUE(the_first_is_refused); }

TEST_F(NoMemory, ThePoolRefusesAndLosesNothing) {
    const std::size_t n_before = task_pool::slot_count();
    std::vector<task*> taken;
    taken.reserve(n_before + 200);
    {
        const no_memory scope;
        while (task* const slot = task_pool::acquire()) taken.push_back(slot);
    }
    EXPECT_LE(taken.size(), n_before);
    EXPECT_EQ(task_pool::slot_count(), n_before);
    for (task* const slot : taken) task_pool::release(slot);
    std::vector<task*> again;
    for (std::size_t i = 0; i < taken.size(); ++i) again.push_back(task_pool::acquire());
    EXPECT_EQ(task_pool::slot_count(), n_before) << "what was given back is there";
    for (task* const slot : again) task_pool::release(slot);
}

TEST_F(NoMemory, ATurnIsRefusedAndNothingIsTaken) {
    program_order order;
    const commtask_op op = commtask_op_barrier(MPI_Comm{});
    {
        const no_memory scope;
        EXPECT_EQ(order.make(op, COMMTASK_NONE, {}), nullptr);
    }
    EXPECT_FALSE(order.has_open());
    EXPECT_NE(order.make(op, COMMTASK_NONE, {}), nullptr);
}

} // namespace
} // namespace commtask::detail::testing
