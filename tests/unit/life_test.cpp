// SPDX-License-Identifier: Apache-2.0
//
// The steps of a task's life as observers see them, over a fake transport: every step once, in order, with a number that no
// other task has; tasks with several parts; and what statistics make of the steps.
#include "fake_transport.hpp"
#include "report/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace commtask::detail::testing {
namespace {

using path = std::vector<phase>;

/// Notes every task's way, and that each step begins where the last one ended.
class recorder final : public task_observer {
public:
    void moved(const task& which, const life_step& step) noexcept override {
        path& way = ways_[which.run.number];
        if (way.empty()) way.push_back(phase::posted);
        EXPECT_EQ(way.back(), step.from);
        EXPECT_LE(step.since_ns, step.at_ns);
        way.push_back(step.to);
        if (step.end != task_state::open) ends_[which.run.number] = step.end;
        times_.push_back(step.at_ns);
    }
    [[nodiscard]] const path& way_of(const task& which) const { return ways_.at(which.run.number); }
    [[nodiscard]] task_state end_of(const task& which) const { return ends_.at(which.run.number); }
    [[nodiscard]] std::size_t n_tasks() const { return ways_.size(); }
    /// When the steps were made since the last call.
    [[nodiscard]] std::vector<std::uint64_t> take_times() { return std::exchange(times_, {}); }

private:
    std::map<std::uint64_t, path> ways_;
    std::map<std::uint64_t, task_state> ends_;
    std::vector<std::uint64_t> times_;
};

constexpr int at_once = fake_transport::completes_at_once;

TEST(Life, IsToldStepByStep) {
    recorder seen;
    lane_bench bench{64, {&seen}};
    task& first = bench.post();
    task& after = bench.post({.after = {&first}, .tag = at_once});
    task& refused = bench.post({.tag = fake_transport::is_refused});
    task& child = bench.post({.after = {&refused}});
    bench.run();
    bench.complete(first);
    EXPECT_EQ(seen.way_of(first), (path{phase::posted, phase::ready, phase::in_flight, phase::ended}));
    EXPECT_EQ(seen.way_of(after), (path{phase::posted, phase::waiting, phase::ready, phase::in_flight, phase::ended}));
    EXPECT_EQ(seen.end_of(refused), task_state::failed);
    EXPECT_EQ(seen.way_of(child), (path{phase::posted, phase::waiting, phase::ready, phase::dropped}));
    EXPECT_EQ(seen.end_of(child), task_state::canceled);
}

TEST(Life, OfAnOrderedTaskHasItsTurnInIt) {
    recorder seen;
    lane_bench bench{64, {&seen}};
    turn* const early = bench.take_turn();
    task& late = bench.post({.its_turn = bench.take_turn(), .tag = at_once});
    task& unwanted = bench.post({.its_turn = bench.take_turn()});
    bench.run();
    bench.the_lane().cancel(unwanted);
    bench.run();
    bench.post({.its_turn = early, .tag = at_once});
    bench.run();
    EXPECT_EQ(seen.way_of(late),
              (path{phase::posted, phase::awaiting_turn, phase::ready, phase::in_flight, phase::ended}));
    EXPECT_EQ(seen.way_of(unwanted), (path{phase::posted, phase::awaiting_turn, phase::ready, phase::dropped}));
}

/// The process dies of a step that cannot be.
void expect_death_of(void (*misuse)(), [[maybe_unused]] const char* words) {
#if defined(COMMTASK_ASSERTIONS) && COMMTASK_ASSERTIONS
    EXPECT_DEATH(misuse(), words);
#else
    static_cast<void>(misuse);
    GTEST_SKIP() << "this build has no assertions";
#endif
}

TEST(LifeDeathTest, NoStepBeginsInAnotherPhaseThanTheTaskIsIn) {
    expect_death_of(
        [] {
            lane_bench bench;
            task& ready = bench.make();
            const auto meddle = [](const commtask_status*, void* with) {
                static_cast<task*>(with)->run.now = phase::waiting;
            };
            bench.post({.tag = at_once, .callback = meddle, .argument = &ready});
            bench.the_lane().post(ready);
            bench.run();
        },
        "broken invariant: which.run.now == from");
}

TEST(LifeDeathTest, WhatWaitsForAPredecessorDoesNotEndByAResult) {
    expect_death_of(
        [] {
            lane_bench bench;
            task& waiting = bench.post({.after = {&bench.post()}});
            bench.run();
            waiting.run.open_parts = 1;
            bench.complete(waiting);
        },
        "broken invariant: was_started .. which.run.now == phase::ready");
}

TEST(Life, StepsOfOnePassHaveOneTime) {
    recorder seen;
    lane_bench bench{64, {&seen}};
    const std::array tasks{&bench.post(), &bench.post(), &bench.post()};
    bench.post({.after = {tasks[0], tasks[1], tasks[2]}});
    const auto times_of_a_pass = [&] {
        static_cast<void>(bench.the_lane().engine.progress());
        const std::vector<std::uint64_t> times = seen.take_times();
        return std::pair{times.size(), std::set(times.begin(), times.end()).size()};
    };
    EXPECT_EQ(times_of_a_pass(), (std::pair{std::size_t{7}, std::size_t{1}})) << "ready and started, and one waits";
    for (task* const each : tasks) bench.carrier().land(*each);
    EXPECT_EQ(times_of_a_pass(), (std::pair{std::size_t{5}, std::size_t{1}}))
        << "ended; the fourth is ready, and started";
    bench.run();
    EXPECT_EQ(seen.take_times().size(), 0U);
}

TEST(Life, NumbersAreNeverUsedAgain) {
    recorder seen;
    lane_bench bench{64, {&seen}};
    std::set<const task*> slots;
    for (int i = 0; i < 2000; ++i) {
        task& made = bench.post({.tag = at_once});
        bench.run();
        slots.insert(&made);
        bench.drop(made);
    }
    EXPECT_EQ(seen.n_tasks(), 2000U);
    EXPECT_LT(slots.size(), 2000U) << "no slot was used twice: this test shows nothing";
}

TEST(Life, EndsWithTheLastPartInEitherOrder) {
    for (const std::array<std::uint32_t, 2> order : {std::array{0U, 1U}, std::array{1U, 0U}}) {
        SCOPED_TRACE(::testing::PrintToString(order));
        lane_bench bench;
        task& exchange = bench.post({.n_parts = 2});
        task& next = bench.post({.after = {&exchange}, .tag = at_once});
        bench.run();
        bench.carrier().land(exchange, {.bytes = order[0] == 0 ? 8 : 0}, order[0]);
        bench.run();
        EXPECT_EQ(exchange.life.state(), task_state::open);
        EXPECT_EQ(next.life.state(), task_state::open);
        bench.carrier().land(exchange, {.bytes = order[1] == 0 ? 8 : 0}, order[1]);
        bench.run();
        EXPECT_EQ(exchange.life.state(), task_state::completed);
        EXPECT_EQ(exchange.result.bytes, 8);
        EXPECT_EQ(next.life.state(), task_state::completed);
    }
}

TEST(Life, FailsIfAnyPartDid) {
    for (const std::uint32_t failing : {0U, 1U, 2U}) {
        SCOPED_TRACE(::testing::Message() << "part " << failing << " fails");
        lane_bench bench;
        task& exchange = bench.post({.n_parts = 3});
        bench.run();
        for (const std::uint32_t part : {2U, 0U, 1U}) {
            SCOPED_TRACE(::testing::Message() << "part " << part << " ends");
            EXPECT_EQ(exchange.life.state(), task_state::open);
            bench.carrier().land(exchange, {.error = part == failing ? 7 : 0}, part);
            bench.run();
        }
        EXPECT_EQ(exchange.life.state(), task_state::failed);
    }
}

TEST(Statistics, CountWhatEveryTaskDid) {
    statistics counted;
    lane_bench bench{64, {&counted}};
    task& large = bench.post();
    bench.post({.tag = fake_transport::is_refused});
    task& unwanted = bench.post({.after = {&large}});
    bench.run();
    bench.the_lane().cancel(unwanted);
    bench.complete(large, {.bytes = 4096});
    const lane_stats all = counted.collected();
    EXPECT_EQ(all.tasks[COMMTASK_OP_SEND], 3U);
    EXPECT_EQ(all.bytes[COMMTASK_OP_SEND], 4096U);
    EXPECT_EQ(all.failed, 1U);
    EXPECT_EQ(all.canceled, 1U);
    EXPECT_EQ(all.queue_delay.count, 3U);
    EXPECT_EQ(all.in_flight.count, 2U);
    EXPECT_EQ(all.unblock.count, 0U);
}

} // namespace
} // namespace commtask::detail::testing
