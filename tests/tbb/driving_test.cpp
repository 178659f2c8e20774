// SPDX-License-Identifier: Apache-2.0
//
// A thread of oneTBB that drives the lane, and runs a callback of a task there, must not be suspended: the lane would stand
// still with it. A graph that such a thread waits for is done when it says so. And a forked child, which has none of the library's
// threads, must come to its end.
#include "tbb_fixture.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_group.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

using namespace commtask::test;
using commtask::one;
using commtask::post;

namespace {

/// Runs `body` in a callback, on a thread that runs a task of oneTBB.
void in_callback_of_a_task(const std::function<void()>& body) {
    bool has_run = false;
    while (!has_run) { // another thread may drive at this moment
        ::tbb::task_group group;
        group.run_and_wait([&] {
            const auto on_end = [&]() noexcept {
                if (has_run || ::tbb::task::current_context() == nullptr) return;
                has_run = true;
                body();
            };
            commtask::task ended = post(commtask::noop(), commtask::progress_follows, commtask::then(on_end));
            static_cast<void>(ended.wait());
        });
    }
}

TEST_F(TbbFace, WaitIsRefusedInACallbackThatAThreadOfTheArenaRuns) {
    int received = -1;
    commtask::task receive = post(commtask::recv(one(received), rank_, 3, comm_));
    commtask::event never;
    int n_refused = 0;
    const auto expect_refusal = [&](const std::function<void()>& wait) {
        try {
            wait();
        } catch (const commtask::error& refusal) {
            n_refused += refusal.code() == COMMTASK_ERR_WORKER_THREAD ? 1 : 0;
        }
    };
    in_arena([&] {
        in_callback_of_a_task([&] {
            EXPECT_EQ(commtask_is_driving(), 1);
            expect_refusal([&] { static_cast<void>(ct::wait(receive)); });
            expect_refusal([&] { static_cast<void>(ct::wait_all({&receive, 1})); });
            expect_refusal([&] { ct::wait(never); });
        });
    });
    EXPECT_EQ(n_refused, 3);
    EXPECT_EQ(commtask_is_driving(), 0);
    never.signal();
    commtask::task send = post(commtask::send(one(rank_), rank_, 3, comm_));
    EXPECT_TRUE(send.wait().is_completed());
    EXPECT_TRUE(receive.wait().is_completed());
}

/// An operation of a graph that the test ends, as the worker would.
class by_hand final : public ct::face::pending_operation {
public:
    /// In a task of the graph.
    static by_hand& begin(ct::face::graph_side& side, std::function<void()> then) {
        auto& made = *new by_hand{side, std::move(then)};
        side.begin(made);
        side.list(made, {});
        return made;
    }
    /// On the thread that began it, when others know of it.
    void let_go() noexcept { drop(); }
    void finish() override { then_(); }

private:
    by_hand(ct::face::graph_side& side, std::function<void()> then) : pending_operation(side), then_(std::move(then)) {}
    const std::function<void()> then_;
};

void wait_until(const std::function<bool()>& is_so) {
    while (!is_so()) std::this_thread::yield();
}

/// Two operations, one after the other, and what keeps the graph for a moment, as a listener does: so the first one's end is a task of
/// another thread of oneTBB, which begins the second about when the waiting thread finds nothing to look for any more.
class hand_over_at_the_end {
public:
    /// @param arena  of one thread, and of another one for what is enqueued there
    /// @param pause  how much the other thread does in between
    hand_over_at_the_end(::tbb::task_arena& arena, MPI_Comm comm, int pause)
        : arena_(arena), comm_(comm), pause_(pause) {}

    /// In the arena. @return whether the second one was over when the wait was
    [[nodiscard]] bool run_and_wait() {
        flow::graph graph;
        const auto side = ct::face::graph_side::of(graph);
        flow::function_node<int, flow::continue_msg> start(graph, flow::serial, [&](int) { begin_first(*side); });
        start.try_put(0);
        std::thread worker{[&] { end_both(*side); }};
        side->wait_driving();
        const bool was_over = is_second_over_;
        has_returned_ = true;
        worker.join();
        side->wait_driving(); // it is as if nothing had gone wrong
        return was_over && is_second_over_;
    }

private:
    void begin_first(ct::face::graph_side& side) {
        by_hand& made = by_hand::begin(side, [&] { begin_second(side); });
        first_ = &made;
        made.let_go();
        // The waiting thread is inside this callback until the other thread has the first one.
        commtask::post_detached(commtask::noop(comm_), commtask::then([this]() noexcept {
                                    is_kept_ = true;
                                    wait_until([this] { return is_first_over_.load(); });
                                }));
    }
    void begin_second(ct::face::graph_side& side) {
        is_first_over_ = true;
        for (std::atomic<int> i{0}; i < pause_;) ++i;
        by_hand& made = by_hand::begin(side, [this] { is_second_over_ = true; });
        is_second_looked_for_ = ct::face::graph_side::is_looked_for(made);
        second_ = &made;
        made.let_go();
    }
    void end_both(ct::face::graph_side& side) {
        wait_until([this] { return is_kept_.load(); });
        side.hold();
        side.deliver(*first_, {});
        side.let_go();
        while (!is_first_over_) { // oneTBB sends another thread for this alone, which finds the graph's task, too
            std::atomic<bool> has_run{false};
            arena_.enqueue([&has_run] { has_run = true; });
            wait_until([&has_run] { return has_run.load(); });
        }
        wait_until([this] { return second_ != nullptr; });
        if (is_second_looked_for_) { // then the waiting thread drives, unless it has left
            std::atomic<bool> is_driven{false};
            commtask::task driven = post(commtask::noop(comm_), commtask::then([&]() noexcept { is_driven = true; }));
            wait_until([&] { return is_driven || has_returned_; });
            side.deliver(*second_, {});
            if (!is_driven) static_cast<void>(driven.wait());
        } else {
            side.deliver(*second_, {});
        }
    }

    ::tbb::task_arena& arena_;
    const MPI_Comm comm_;
    const int pause_;
    std::atomic<by_hand*> first_{nullptr};
    std::atomic<by_hand*> second_{nullptr};
    std::atomic<bool> is_kept_{false};
    std::atomic<bool> is_first_over_{false};
    std::atomic<bool> is_second_looked_for_{false};
    std::atomic<bool> is_second_over_{false};
    std::atomic<bool> has_returned_{false};
};

TEST_F(TbbFace, TheThreadThatWaitsForAGraphStaysForWhatAnotherThreadBegins) {
    constexpr int n_turns = 6000;
    ASSERT_EQ(commtask_pause(), COMMTASK_OK); // the worker drives nothing
    ::tbb::task_arena of_one{1};
    int n_left_too_early = 0;
    for (int turn = 0; turn < n_turns; ++turn) {
        hand_over_at_the_end hand_over{of_one, comm_, turn % 200};
        of_one.execute([&] { n_left_too_early += hand_over.run_and_wait() ? 0 : 1; });
    }
    EXPECT_EQ(n_left_too_early, 0) << "of " << n_turns;
    ASSERT_EQ(commtask_resume(), COMMTASK_OK);
}

TEST_F(TbbFace, AForkedChildCanExit) {
    if (has_leak_check) GTEST_SKIP() << "to it, what the parent's threads have is lost in the child";
    flow::graph graph;
    const ct::send_node<std::vector<int>> node{graph, rank_, 0, comm_};
    const pid_t child = fork();
    if (child == 0) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): with what runs at exit
        std::exit(5);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 5);
}

} // namespace
