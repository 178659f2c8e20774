// SPDX-License-Identifier: Apache-2.0
//
// plan_node where it does not go well: members that fail or are canceled, messages that come too early, plans that run elsewhere.
// docs/snippets/tbb_plan.cpp is where it does. And a graph that something else keeps as well.
#include "tbb_fixture.hpp"

using namespace commtask::test;

namespace {

class TbbPlan : public TbbFace {
protected:
    /// Member 0 fails if it is told to, member 1 comes after it, member 2 has nothing to do with either.
    [[nodiscard]] commtask::plan failing_if(const bool& fails) const {
        return commtask::plan{[&] {
            const commtask::task first =
                post(commtask::call([&fails]() noexcept { return fails ? MPI_ERR_INTERN : MPI_SUCCESS; }, comm_));
            commtask::post_detached(commtask::noop(comm_), commtask::after(first));
            commtask::post_detached(commtask::noop(comm_));
        }};
    }
};

TEST_F(TbbPlan, ThatFailsGoesToPortOneAfterEachMemberWasToldOf) {
    bool fails = false;
    const commtask::plan work = failing_if(fails);
    std::vector<int> completed;
    std::vector<int> failed;
    int error_class = MPI_SUCCESS;
    in_arena([&] {
        flow::graph graph;
        ct::plan_node<int> exchange(graph, work);
        std::vector<std::size_t> told;
        flow::function_node<std::size_t, flow::continue_msg> members(
            graph, flow::serial, [&](std::size_t member) { told.push_back(member); });
        flow::function_node<int, flow::continue_msg> good(graph, flow::serial,
                                                          [&](int message) { completed.push_back(message); });
        flow::function_node<ct::failure<int>, flow::continue_msg> bad(graph, flow::serial,
                                                                      [&](const ct::failure<int>& what) {
                                                                          failed.push_back(what.message);
                                                                          EXPECT_TRUE(what.result.is_failed());
                                                                          error_class = what.result.error_class();
                                                                      });
        flow::make_edge(exchange.members(), members);
        flow::make_edge(flow::output_port<0>(exchange), good);
        flow::make_edge(flow::output_port<1>(exchange), bad);
        for (int step = 0; step < 6; ++step) {
            fails = step % 3 != 1;
            told.clear();
            exchange.try_put(step);
            ct::wait_for_all(graph);
            EXPECT_THAT(sorted(told), testing::ElementsAre(0U, 1U, 2U)) << "canceled ones too, in step " << step;
        }
    });
    EXPECT_THAT(completed, testing::ElementsAre(1, 4));
    EXPECT_THAT(failed, testing::ElementsAre(0, 2, 3, 5));
    EXPECT_EQ(error_class, MPI_ERR_INTERN);
}

TEST_F(TbbPlan, ThatFailsWithNobodyAtPortOneLeavesWaitForAll) {
    bool fails = true;
    const commtask::plan work = failing_if(fails);
    in_arena([&] {
        flow::graph graph;
        ct::plan_node<int> exchange(graph, work);
        exchange.try_put(0);
        try {
            ct::wait_for_all(graph);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const ct::operation_failed& caught) {
            EXPECT_TRUE(caught.result().is_failed());
            EXPECT_THAT(caught.what(), testing::HasSubstr("plan_node"));
        }
        graph.reset();
        fails = false;
        exchange.try_put(1);
        ct::wait_for_all(graph);
    });
    run(work.run()); // without the node it is a plan like any other
}

/// Member 1 waits for what the message of member 0 starts: if that came with the end of the run, there would be none.
TEST_F(TbbPlan, TellsOfAMemberBeforeTheRunHasEnded) {
    commtask::plan two{[&] {
        commtask::post_detached(commtask::noop(comm_));
        commtask::post_detached(commtask::noop(comm_));
    }};
    two.defer(1);
    std::vector<int> completed;
    in_arena([&] {
        flow::graph graph;
        ct::plan_node<int> exchange(graph, two);
        flow::function_node<std::size_t, flow::continue_msg> members(graph, flow::serial, [&](std::size_t member) {
            if (member != 0) return;
            EXPECT_FALSE(two.parrived(1));
            two.pready(1);
        });
        flow::function_node<int, flow::continue_msg> good(graph, flow::serial,
                                                          [&](int message) { completed.push_back(message); });
        flow::make_edge(exchange.members(), members);
        flow::make_edge(flow::output_port<0>(exchange), good);
        for (int step = 0; step < 20; ++step) {
            exchange.try_put(step);
            ct::wait_for_all(graph);
        }
    });
    EXPECT_EQ(completed.size(), 20U);
}

TEST_F(TbbPlan, RefusesAMessageThatComesBeforeTheRunHasEnded) {
    int mine = rank_;
    int theirs = -1;
    const commtask::plan exchange_of_one{
        [&] { commtask::post_detached(commtask::recv(commtask::one(theirs), left(), 1, comm_)); }};
    std::vector<int> completed;
    in_arena([&] {
        flow::graph graph;
        ct::plan_node<int> exchange(graph, exchange_of_one);
        flow::function_node<int, flow::continue_msg> good(graph, flow::serial,
                                                          [&](int message) { completed.push_back(message); });
        flow::make_edge(flow::output_port<0>(exchange), good);
        exchange.try_put(0); // nobody sends
        exchange.try_put(1);
        EXPECT_EQ(code_of([&] { ct::wait_for_all(graph); }), COMMTASK_ERR_RUNNING);
        run(commtask::barrier(comm_)); // everybody has withdrawn the receive

        graph.reset();
        commtask::post_detached(commtask::send(commtask::one(mine), right(), 1, comm_));
        exchange.try_put(2);
        ct::wait_for_all(graph);
    });
    EXPECT_THAT(completed, testing::ElementsAre(2));
    EXPECT_EQ(theirs, left());
}

/// The graph is kept by the listener for as long as the exchange goes on, so a thread that waits inside it must be told of members.
TEST_F(TbbPlan, GoesOnInAGraphThatAListenerKeeps) {
    constexpr int n_steps = 20;
    int mine = 0;
    int theirs = -1;
    const commtask::plan ring{[&] {
        commtask::post_detached(commtask::recv(commtask::one(theirs), left(), 1, comm_));
        commtask::post_detached(commtask::send(commtask::one(mine), right(), 1, comm_));
    }};
    std::vector<int> came;
    in_arena([&] {
        flow::graph graph;
        ct::listen_node calls(graph, comm_, 2, sizeof(int), 2);
        ct::plan_node<int> exchange(graph, ring);
        flow::multifunction_node<int, std::tuple<int>> next(graph, flow::serial, [&](int step, auto& ports) {
            came.push_back(theirs);
            mine = step + 1;
            if (mine < n_steps) std::get<0>(ports).try_put(mine);
            if (mine == n_steps) calls.stop();
        });
        flow::make_edge(flow::output_port<0>(exchange), next);
        flow::make_edge(flow::output_port<0>(next), exchange);
        flow::function_node<int, int> begin(graph, flow::serial, [&](int step) {
            calls.start(); // inside the wait
            return step;
        });
        flow::make_edge(begin, exchange);
        begin.try_put(0);
        ct::wait_for_all(graph);
    });
    std::vector<int> expected(n_steps);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(came, expected);
}

TEST_F(TbbPlan, CannotBeMadeOfAPlanThatRunsOrThatIsNone) {
    commtask::plan held{[&] { commtask::post_detached(commtask::noop(comm_)); }};
    held.defer(0);
    in_arena([&] {
        flow::graph graph;
        const auto make = [&](const commtask::plan& of) { const ct::plan_node<int> node(graph, of); };
        EXPECT_EQ(code_of([&] { make(commtask::plan{}); }), COMMTASK_ERR_ARGUMENT);
        commtask::task whole = held.start();
        EXPECT_EQ(code_of([&] { make(held); }), COMMTASK_ERR_RUNNING);
        held.pready(0);
        EXPECT_TRUE(finish(whole).is_completed());
        make(held);
        ct::wait_for_all(graph);
    });
}

} // namespace
