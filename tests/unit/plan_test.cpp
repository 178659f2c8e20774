// SPDX-License-Identifier: Apache-2.0
//
// Plans over a fake transport: members in every order of ends, held ones made ready at any moment, order beside other posts,
// failure and cancellation, and runs one after the other, on one lane and across two.
#include "core/plan.hpp"
#include "core/run_posting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace commtask::detail::testing {
namespace {

using tasks = std::vector<task*>;

task_state state_of(const task& which) { return which.life.state(); }

constexpr int at_once = fake_transport::completes_at_once;

/// What a test says about a member.
struct member_plan {
    std::vector<std::uint32_t> after{};
    bool is_ordered = false;
    bool is_deferred = false;
    int tag = 0;
    std::size_t on = 0; ///< Its lane.
    std::uint32_t flags = 0;
};

/// A plan and its runs.
template <std::size_t NLanes>
class recorded {
public:
    recorded(lanes_bench<NLanes>& bench, const std::vector<member_plan>& members) : bench_(bench) {
        for (const member_plan& each : members) {
            plan_member made;
            made.op.kind = COMMTASK_OP_SEND;
            made.op.send_tag = each.tag;
            made.flags = each.flags;
            made.queue = &bench.queue(each.on);
            made.predecessors = each.after;
            made.is_deferred = each.is_deferred;
            if (each.is_ordered) {
                made.its_turn = std::make_unique<turn>();
                EXPECT_TRUE(made.its_turn->set(commtask_op_noop(MPI_Comm{}), COMMTASK_ORDERED, {}));
            }
            EXPECT_NE(plan_.add(std::move(made)), nullptr);
        }
        plan_.end_change();
    }
    recorded(const recorded&) = delete;
    recorded& operator=(const recorded&) = delete;
    ~recorded() {
        EXPECT_TRUE(plan_.try_change());
        plan_.cancel_instantiated(release_to_its_lane);
        for (const plan_member& each : plan_) {
            for (const task* const slot : each.slots) EXPECT_TRUE(slot == nullptr || slot->life.has_one_reference());
        }
    }

    task& make_run(const task_plan& how = {}) {
        task& run = bench_.make(0, how);
        run.op.kind = COMMTASK_OP_PLAN;
        run.op.result = &plan_;
        run.op.reserved |= static_cast<int>(flag_is_run);
        EXPECT_EQ(plan_.try_start(), plan::start_status::done);
        run.life.take_reference();
        plan_.begin_start(run);
        return run;
    }
    task& start(const task_plan& how = {}) {
        task& run = make_run(how);
        EXPECT_TRUE(post_run(run, true));
        return run;
    }
    bool make_ready(std::size_t member) {
        task& waiting = *plan_.unended_of(plan_[member]);
        const graph::ready_result result = graph::make_ready(waiting);
        if (result.waits_for_none) release_to_its_lane(waiting);
        return result.was_deferred;
    }
    task& operator[](std::size_t member) { return *plan_.started_of(plan_[member]); }
    tasks all() {
        tasks members;
        for (plan_member& each : plan_) members.push_back(plan_.started_of(each));
        return members;
    }
    plan& get() { return plan_; }

private:
    lanes_bench<NLanes>& bench_;
    plan plan_;
};

TEST(Plan, EndsWithItsLastMemberInEveryOrderAndRunsAgain) {
    lane_bench bench;
    recorded<1> exchange{bench, {{}, {}, {}}};
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
        SCOPED_TRACE(::testing::PrintToString(order));
        task& run = exchange.start();
        bench.run();
        EXPECT_EQ(bench.carrier().take_started(), exchange.all());
        for (const std::size_t i : order) {
            EXPECT_EQ(state_of(run), task_state::open);
            bench.complete(exchange[i]);
            EXPECT_EQ(state_of(exchange[i]), task_state::completed);
        }
        EXPECT_EQ(state_of(run), task_state::completed);
    } while (std::ranges::next_permutation(order).found);
}

TEST(Plan, IsStartedByWhoPostsItBesideAWorkerThatShares) {
    lane_bench bench{lane_settings{.submitters_start = true}};
    recorded<1> exchange{bench, {{}, {.tag = at_once}, {.after = {0}}}};
    for (int turn = 0; turn < 3; ++turn) {
        task& run = exchange.start();
        EXPECT_EQ(bench.carrier().take_started(), (tasks{&exchange[0], &exchange[1]}));
        EXPECT_EQ(state_of(exchange[1]), task_state::open) << "its end may be the run's, whose callback is a driver's";
        bench.run();
        EXPECT_EQ(state_of(exchange[1]), task_state::completed);
        bench.complete(exchange[0]);
        EXPECT_EQ(bench.carrier().take_started(), tasks{&exchange[2]});
        EXPECT_EQ(state_of(run), task_state::open);
        bench.complete(exchange[2]);
        EXPECT_EQ(state_of(run), task_state::completed);
    }
}

TEST(Plan, WithoutMembersEnds) {
    lane_bench bench;
    recorded<1> nothing{bench, {}};
    for (int i = 0; i < 3; ++i) {
        task& run = nothing.start();
        bench.run();
        EXPECT_EQ(state_of(run), task_state::completed);
    }
}

TEST(Plan, StartsAMemberAfterItsPredecessorsInEveryRun) {
    lane_bench bench;
    // Two receives, a send after both, and a last one after the send.
    recorded<1> pattern{bench, {{}, {}, {.after = {0, 1}}, {.after = {2}, .tag = at_once}}};
    for (int i = 0; i < 4; ++i) {
        task& run = pattern.start();
        bench.run();
        EXPECT_EQ(bench.carrier().take_started(), (tasks{&pattern[0], &pattern[1]}));
        bench.complete(pattern[static_cast<std::size_t>(i % 2)]);
        EXPECT_TRUE(bench.carrier().take_started().empty());
        bench.complete(pattern[static_cast<std::size_t>(1 - i % 2)]);
        EXPECT_EQ(bench.carrier().take_started(), tasks{&pattern[2]});
        bench.complete(pattern[2]);
        EXPECT_EQ(bench.carrier().take_started(), tasks{&pattern[3]});
        EXPECT_EQ(state_of(run), task_state::completed);
    }
}

TEST(Plan, IsNotStartedTwice) {
    lane_bench bench;
    recorded<1> exchange{bench, {{}}};
    exchange.start();
    EXPECT_EQ(exchange.get().try_start(), plan::start_status::is_running);
    EXPECT_FALSE(exchange.get().try_change());
    bench.run();
    EXPECT_EQ(exchange.get().try_start(), plan::start_status::is_running);
    bench.complete(exchange[0]);
    EXPECT_TRUE(exchange.get().try_change());
    EXPECT_EQ(exchange.get().try_start(), plan::start_status::is_running) << "it is being changed";
    exchange.get().end_change();
}

TEST(Plan, KeepsItsPlaceAmongOtherPosts) {
    lane_bench bench;
    recorded<1> exchange{bench, {{.tag = at_once}, {.is_ordered = true, .tag = at_once}, {.tag = at_once}}};
    task& before = bench.post({.tag = at_once});
    exchange.start();
    task& ordered_after = bench.post({.its_turn = bench.take_turn(), .tag = at_once});
    task& after = bench.post({.tag = at_once});
    bench.run();
    EXPECT_EQ(bench.carrier().take_started(),
              (tasks{&before, &exchange[0], &exchange[1], &exchange[2], &ordered_after, &after}));
}

TEST(Plan, TakesThePlacesOfItsOrderedMembersWhenItIsStarted) {
    lane_bench bench;
    recorded<1> exchange{bench, {{}, {.after = {0}, .is_ordered = true, .tag = at_once}, {.is_ordered = true}}};
    for (int i = 0; i < 3; ++i) {
        turn* const early = bench.take_turn();
        task& run = exchange.start();
        task& late = bench.post({.its_turn = bench.take_turn(), .tag = at_once});
        bench.run();
        EXPECT_EQ(bench.carrier().take_started(), tasks{&exchange[0]});
        bench.complete(exchange[0]);
        EXPECT_TRUE(bench.carrier().take_started().empty()) << "an earlier place was not used";
        task& first = bench.post({.its_turn = early, .tag = at_once});
        bench.run();
        EXPECT_EQ(bench.carrier().take_started(), (tasks{&first, &exchange[1], &exchange[2], &late}));
        bench.complete(exchange[2]);
        EXPECT_EQ(state_of(run), task_state::completed);
    }
}

TEST(Plan, HoldsAMemberUntilItIsReadyAtAnyMoment) {
    lane_bench bench;
    recorded<1> exchange{
        bench, {{}, {.after = {0}, .is_deferred = true, .tag = at_once}, {.is_deferred = true, .tag = at_once}}};
    for (const int moment : {0, 1, 2, 3, 0, 3}) {
        SCOPED_TRACE(::testing::Message() << "moment " << moment);
        const auto now = [&](int which) {
            if (which != moment) return;
            EXPECT_TRUE(exchange.make_ready(1));
            EXPECT_FALSE(exchange.make_ready(1)) << "twice";
            EXPECT_TRUE(exchange.make_ready(2));
        };
        now(0); // before the start
        task& run = exchange.start();
        now(1); // before the lane has seen it
        bench.run();
        now(2); // while it waits for its predecessor
        bench.run();
        bench.complete(exchange[0]);
        now(3);
        bench.run();
        EXPECT_EQ(state_of(run), task_state::completed);
        EXPECT_EQ(bench.carrier().take_started().size(), 3U);
    }
    EXPECT_FALSE(exchange.make_ready(0)) << "it is not held";
}

TEST(Plan, CancelsTheSuccessorsOfAMemberThatFailedAndCanBeStartedAgain) {
    lane_bench bench;
    recorded<1> exchange{bench,
                         {{},
                          {.after = {0}},
                          {.after = {1}, .is_ordered = true},
                          {},
                          {.after = {0}, .tag = at_once, .flags = COMMTASK_RUN_AFTER_FAILURE}}};
    for (int i = 0; i < 3; ++i) {
        task& run = exchange.start();
        task& other = bench.post({.after = {&run}});
        bench.run();
        bench.complete(exchange[0], {.error = 7, .error_class = 3});
        EXPECT_EQ(state_of(run), task_state::open) << "one goes on";
        bench.complete(exchange[3]);
        EXPECT_EQ(state_of(run), task_state::failed);
        EXPECT_EQ(run.result.error, 7);
        EXPECT_EQ(run.result.error_class, 3);
        EXPECT_EQ(state_of(exchange[1]), task_state::canceled);
        EXPECT_EQ(state_of(exchange[2]), task_state::canceled);
        EXPECT_EQ(state_of(exchange[3]), task_state::completed);
        EXPECT_EQ(state_of(exchange[4]), task_state::completed);
        EXPECT_EQ(state_of(other), task_state::canceled);
    }
    task& run = exchange.start();
    bench.run();
    for (const std::size_t i : {0U, 1U, 2U, 3U}) bench.complete(exchange[i]);
    EXPECT_EQ(state_of(run), task_state::completed);
    static_cast<void>(bench.carrier().take_started());
    task& ordered = bench.post({.its_turn = bench.take_turn(), .tag = at_once});
    bench.run();
    EXPECT_EQ(state_of(ordered), task_state::completed) << "a place was left open";
}

TEST(Plan, HasItsMembersCanceledIfItMustNotStart) {
    lane_bench bench;
    recorded<1> exchange{bench, {{}, {.is_ordered = true}, {.is_deferred = true}}};
    task& failing = bench.post();
    task& run = exchange.start({.after = {&failing}});
    bench.run();
    static_cast<void>(bench.carrier().take_started());
    bench.complete(failing, {.error = 7});
    EXPECT_EQ(state_of(run), task_state::canceled);
    for (const std::size_t i : {0U, 1U, 2U}) EXPECT_EQ(state_of(exchange[i]), task_state::canceled);
    EXPECT_TRUE(bench.carrier().take_started().empty());
    task& ordered = bench.post({.its_turn = bench.take_turn(), .tag = at_once});
    bench.run();
    EXPECT_EQ(state_of(ordered), task_state::completed) << "a place was left open";
    recorded<1> nothing{bench, {}};
    task& late = nothing.start({.after = {&failing}});
    bench.run();
    EXPECT_EQ(state_of(late), task_state::canceled);
}

TEST(Plan, IsCanceledAtAnyMoment) {
    for (const int moment : {0, 1, 2, 3}) {
        SCOPED_TRACE(::testing::Message() << "moment " << moment);
        lane_bench bench;
        recorded<1> exchange{bench, {{}, {.after = {0}}, {.is_deferred = true}, {.tag = at_once}}};
        for (int i = 0; i < 3; ++i) {
            task& gate = bench.make_event();
            task& run = moment == 0 || moment == 1 ? exchange.start({.after = {&gate}}) : exchange.start();
            const auto cancel = [&](int which) {
                if (which == moment) bench.the_lane().cancel(run);
            };
            cancel(0); // not seen
            bench.run();
            cancel(1); // waiting
            cancel(2); // in flight
            bench.run();
            if (moment == 3) {
                EXPECT_TRUE(exchange.make_ready(2));
                bench.run();
                bench.the_lane().cancel(run);
                bench.run();
            }
            EXPECT_EQ(state_of(run), task_state::canceled);
            lane_bench::signal(gate);
            bench.run();
        }
        exchange.start();
        bench.run();
        EXPECT_TRUE(exchange.make_ready(2));
        bench.run();
        for (const std::size_t i : {0U, 1U, 2U}) bench.complete(exchange[i]);
        EXPECT_EQ(state_of(exchange[2]), task_state::completed);
    }
}

TEST(Plan, LetsOthersDependOnAMemberOfTheRunThatWasStartedLast) {
    lane_bench bench;
    recorded<1> exchange{bench, {{}, {}}};
    for (int i = 0; i < 4; ++i) {
        exchange.start();
        task& early = bench.post({.after = {&exchange[0]}, .tag = at_once});
        bench.run();
        EXPECT_EQ(state_of(early), task_state::open);
        bench.complete(exchange[0]);
        EXPECT_EQ(state_of(early), task_state::completed);
        task& ended = exchange[1];
        bench.complete(exchange[1]);
        task& late = bench.post({.after = {&ended}, .tag = at_once});
        EXPECT_EQ(&exchange[1], &ended) << "the next run has not been started";
        bench.run();
        EXPECT_EQ(state_of(late), task_state::completed);
    }
}

TEST(Plan, LeavesASlotToWhoeverStillHasIt) {
    lane_bench bench;
    recorded<1> exchange{bench, {{.tag = at_once}}};
    exchange.start();
    bench.run();
    task& first = exchange[0];
    first.life.take_reference();
    for (int i = 0; i < 4; ++i) {
        exchange.start();
        bench.run();
        EXPECT_NE(&exchange[0], &first);
        EXPECT_EQ(state_of(first), task_state::completed);
    }
    task_pool::drop(&first);
}

TEST(Plan, CancelsWhatWaitsForARunThatWillNotBe) {
    lane_bench bench;
    task* waiting = nullptr;
    {
        recorded<1> exchange{bench, {{}, {.after = {0}}}};
        waiting = &bench.post({.after = {exchange.get().unended_of(exchange.get()[1])}});
        bench.run();
        EXPECT_EQ(state_of(*waiting), task_state::open);
    }
    bench.run();
    EXPECT_EQ(state_of(*waiting), task_state::canceled);
}

TEST(Plan, StartedFromAMembersCallbackOfTheRunBefore) {
    lane_bench bench;
    recorded<1> exchange{bench, {{.tag = at_once}}};
    struct chain {
        recorded<1>& plan;
        int left;
        static void go_on(const commtask_status* /*status*/, void* argument) {
            auto& mine = *static_cast<chain*>(argument);
            if (mine.left-- > 0) mine.plan.start({.callback = &go_on, .argument = argument});
        }
    } runs{exchange, 100};
    exchange.start({.callback = &chain::go_on, .argument = &runs});
    bench.run();
    EXPECT_EQ(runs.left, -1);
    EXPECT_EQ(bench.carrier().take_started().size(), 101U);
}

TEST(Plan, GivesUpWithItsMembers) {
    lane_bench bench;
    plan* const lost = new plan; // given up for good: MPI may still have its buffers
    for (int i = 0; i < 3; ++i) {
        plan_member made;
        made.op.kind = COMMTASK_OP_SEND;
        made.queue = &bench.queue(0);
        made.is_deferred = i == 2;
        ASSERT_NE(lost->add(std::move(made)), nullptr);
    }
    lost->end_change();
    task& run = bench.make();
    run.op.result = lost;
    run.op.reserved |= static_cast<int>(flag_is_run);
    ASSERT_EQ(lost->try_start(), plan::start_status::done);
    run.life.take_reference();
    lost->begin_start(run);
    ASSERT_TRUE(post_run(run, true));
    bench.run();
    const std::string table = bench.the_lane().incomplete.table("in a test");
    EXPECT_NE(table.find("for commtask_plan_pready"), std::string::npos) << table;
    EXPECT_NE(table.find("3 of its members have not ended"), std::string::npos) << table;
    bench.the_lane().ending.abandon(any_task);
    EXPECT_NE(state_of(run), task_state::open);
    EXPECT_FALSE(lost->try_change());
}

TEST(Plan, RunsOverTwoLanesInEveryOrderOfPasses) {
    std::array<std::size_t, 4> order{0, 0, 1, 1};
    do {
        SCOPED_TRACE(::testing::PrintToString(order));
        lanes_bench<2> bench;
        recorded<2> exchange{bench,
                             {{.tag = at_once},
                              {.after = {0}, .tag = at_once, .on = 1},
                              {.after = {1}, .tag = at_once},
                              {.is_deferred = true, .tag = at_once, .on = 1}}};
        for (int i = 0; i < 3; ++i) {
            task& run = exchange.start();
            std::size_t n_passes = 0;
            for (const std::size_t which : order) {
                bench.lanes()[which].engine.progress();
                if (++n_passes == 2) exchange.make_ready(3);
            }
            bench.run();
            EXPECT_EQ(state_of(run), task_state::completed);
            EXPECT_EQ(bench.carrier(0).take_started(), (tasks{&exchange[0], &exchange[2]}));
            EXPECT_EQ(bench.carrier(1).take_started().size(), 2U);
        }
    } while (std::ranges::next_permutation(order).found);
}

} // namespace
} // namespace commtask::detail::testing
