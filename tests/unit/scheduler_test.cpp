// SPDX-License-Identifier: Apache-2.0
//
// The scheduler alone: no progress call starts or ends a task here before the end of each test.
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace commtask::detail::testing {
namespace {

class Scheduler : public ::testing::Test {
protected:
    ~Scheduler() override { finish(); }

    task& accept(const task_plan& plan = {}) {
        task& made = bench.make(plan);
        tasks.accept(made);
        return made;
    }
    /// A task with its turn in program order, which may be accepted later.
    task& in_turn() { return bench.make({.its_turn = bench.take_turn()}); }

    /// Starts and completes all that may start.
    std::vector<task*> finish() {
        std::vector<task*> all;
        for (std::vector<task*> started;; all.insert(all.end(), started.begin(), started.end())) {
            bench.run();
            started = bench.carrier().take_started();
            if (started.empty()) return all;
            for (task* const each : started) bench.complete(*each);
        }
    }

    lane_bench bench;
    scheduler& tasks = bench.the_lane().scheduled;
};

TEST_F(Scheduler, ListsTasksWithoutConditionsInTheOrderOfTheirSubmission) {
    task& first = accept();
    task& second = accept();
    ASSERT_TRUE(tasks.has_ready());
    EXPECT_EQ(&tasks.first_ready(), &first);
    EXPECT_EQ(second.run.now, phase::ready);
    EXPECT_EQ(tasks.approx_live(), 2U);
    EXPECT_EQ(finish(), (std::vector<task*>{&first, &second}));
    EXPECT_EQ(tasks.approx_live(), 0U);
    EXPECT_EQ(tasks.approx_ended(), 2U);
}

TEST_F(Scheduler, KeepsATaskUntilItsPredecessorIsComplete) {
    task& first = accept();
    task& second = accept({.after = {&first}});
    EXPECT_EQ(second.run.now, phase::waiting);
    EXPECT_EQ(finish(), (std::vector<task*>{&first, &second}));
}

TEST_F(Scheduler, KeepsATaskUntilItsPlaceInProgramOrderHasCome) {
    task& first = in_turn();
    task& second = in_turn();
    tasks.accept(second);
    EXPECT_EQ(second.run.now, phase::awaiting_turn);
    EXPECT_FALSE(tasks.has_ready());
    tasks.accept(first);
    EXPECT_EQ(&tasks.first_ready(), &first);
    EXPECT_EQ(finish(), (std::vector<task*>{&first, &second}));
}

TEST_F(Scheduler, ACanceledTaskGivesItsPlaceUp) {
    task& first = in_turn();
    task& second = in_turn();
    task& third = in_turn();
    tasks.accept(second);
    tasks.accept(third);
    second.marks.fetch_or(mark_cancel);
    tasks.cancel(second);
    EXPECT_EQ(second.run.now, phase::ready) << "it ends without a start";
    EXPECT_EQ(third.run.now, phase::awaiting_turn);
    tasks.accept(first);
    EXPECT_EQ(third.run.now, phase::ready);
    EXPECT_EQ(finish(), (std::vector<task*>{&first, &third}));
    EXPECT_EQ(second.life.state(), task_state::canceled);
}

TEST_F(Scheduler, ATaskThatIsCanceledWhileItWaitsForAPredecessorOutlivesItsEnd) {
    task& first = accept();
    task& second = accept({.after = {&first}});
    second.marks.fetch_or(mark_cancel);
    tasks.cancel(second);
    EXPECT_TRUE(second.run.is_pointed_to);
    EXPECT_EQ(finish(), (std::vector<task*>{&first}));
    EXPECT_EQ(second.life.state(), task_state::canceled);
    EXPECT_FALSE(second.run.is_pointed_to);
}

TEST_F(Scheduler, TheOperationInFlightIsWithdrawn) {
    task& only = accept();
    bench.run();
    static_cast<void>(bench.carrier().take_started());
    only.marks.fetch_or(mark_cancel);
    tasks.cancel(only);
    bench.run();
    EXPECT_EQ(only.life.state(), task_state::canceled);
}

} // namespace
} // namespace commtask::detail::testing
