// SPDX-License-Identifier: Apache-2.0
//
// A thread of oneTBB that drives the lane, and runs a callback of a task there, must not be suspended: the lane would stand
// still with it. A graph that such a thread waits for is done when it says so, hears of a cancellation at any moment, and runs what
// others put into it meanwhile. And a forked child, which has none of the library's threads, must come to its end.
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

#include <dlfcn.h>

namespace {

/// What to do once on this thread when a graph's wait is about to return: it has looked whether the graph was canceled.
thread_local std::function<void()> as_a_wait_returns;

} // namespace

/// oneTBB's function, which graph::wait_for_all() calls last.
bool tbb::detail::r1::is_group_execution_cancelled(d1::task_group_context& asked) {
    using function = bool (*)(d1::task_group_context&);
    static const auto original = reinterpret_cast<function>(
        dlsym(RTLD_NEXT, "_ZN3tbb6detail2r128is_group_execution_cancelledERNS0_2d118task_group_contextE"));
    const bool is_canceled = original(asked);
    if (const auto action = std::exchange(as_a_wait_returns, nullptr)) action();
    return is_canceled;
}

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
            EXPECT_EQ(commtask_in_progress_call(), 1);
            expect_refusal([&] { static_cast<void>(ct::wait(receive)); });
            expect_refusal([&] { static_cast<void>(ct::wait_all({&receive, 1})); });
            expect_refusal([&] { ct::wait(never); });
        });
    });
    EXPECT_EQ(n_refused, 3);
    EXPECT_EQ(commtask_in_progress_call(), 0);
    never.signal();
    commtask::task send = post(commtask::send(one(rank_), rank_, 3, comm_));
    EXPECT_TRUE(send.wait().is_completed());
    EXPECT_TRUE(receive.wait().is_completed());
}

/// As long as it lives the worker drives nothing.
class paused_worker {
public:
    paused_worker() { EXPECT_EQ(commtask_pause(), COMMTASK_OK); }
    paused_worker(const paused_worker&) = delete;
    paused_worker& operator=(const paused_worker&) = delete;
    ~paused_worker() { EXPECT_EQ(commtask_resume(), COMMTASK_OK); }
};

/// An operation of a graph that the test ends, as the worker would.
class by_hand final : public ct::frontend::pending_operation {
public:
    /// In a task of the graph.
    static by_hand& begin(ct::frontend::graph_side& side, std::function<void()> then) {
        auto& made = *new by_hand{side, std::move(then)};
        side.begin(made);
        side.list(made, {});
        return made;
    }
    /// On the thread that began it, when others know of it.
    void let_go() noexcept { drop(); }
    void finish() override { then_(); }

private:
    by_hand(ct::frontend::graph_side& side, std::function<void()> then)
        : pending_operation(side), then_(std::move(then)) {}
    const std::function<void()> then_;
};

void wait_until(const std::function<bool()>& is_so) {
    while (!is_so()) std::this_thread::yield();
}

/// Two operations, one after the other, and another thread of oneTBB, which may begin the second about when the waiting thread finds
/// nothing to look for any more.
class hand_over_at_the_end {
public:
    /// @param arena  of one thread, and of another one for what is enqueued there
    /// @param pause  how much the thread that begins the second one does in between
    hand_over_at_the_end(::tbb::task_arena& arena, MPI_Comm comm, int pause)
        : arena_(arena), comm_(comm), pause_(pause) {}

    /// In the arena. @return whether the second one was over when the wait was
    [[nodiscard]] bool run_and_wait() {
        flow::graph graph;
        const auto side = ct::frontend::graph_side::of(graph);
        flow::function_node<int, flow::continue_msg> start(graph, flow::serial, [&](int) { begin_first(*side); });
        start.try_put(0);
        std::thread worker{[&] { end_both(*side); }};
        side->wait_with_progress();
        const bool was_over = is_second_over_;
        has_returned_ = true;
        worker.join();
        side->wait_with_progress(); // it is as if nothing had gone wrong
        return was_over && is_second_over_;
    }

private:
    void begin_first(ct::frontend::graph_side& side) {
        by_hand& made = by_hand::begin(side, [&] { begin_second(side); });
        first_ = &made;
        made.let_go();
    }
    void begin_second(ct::frontend::graph_side& side) {
        for (std::atomic<int> i{0}; i < pause_;) ++i;
        by_hand& made = by_hand::begin(side, [this] { is_second_over_ = true; });
        second_ = &made;
        made.let_go();
    }
    void end_both(ct::frontend::graph_side& side) {
        wait_until([this] { return first_ != nullptr; });
        side.deliver(*first_, {});
        while (second_ == nullptr) { // oneTBB sends another thread for this alone, which finds the graph's tasks, too
            std::atomic<bool> has_run{false};
            arena_.enqueue([&has_run] { has_run = true; });
            wait_until([&has_run] { return has_run.load(); });
        }
        // A thread drives as long as there is something to look for, unless it has left.
        std::atomic<bool> is_driven{false};
        commtask::task driven = post(commtask::noop(comm_), commtask::then([&]() noexcept { is_driven = true; }));
        wait_until([&] { return is_driven || has_returned_; });
        side.deliver(*second_, {});
        if (!is_driven) static_cast<void>(driven.wait());
    }

    ::tbb::task_arena& arena_;
    const MPI_Comm comm_;
    const int pause_;
    std::atomic<by_hand*> first_{nullptr};
    std::atomic<by_hand*> second_{nullptr};
    std::atomic<bool> is_second_over_{false};
    std::atomic<bool> has_returned_{false};
};

TEST_F(TbbFace, TheThreadThatWaitsForAGraphStaysForWhatAnotherThreadBegins) {
    constexpr int n_turns = 6000;
    const paused_worker scope;
    ::tbb::task_arena of_one{1};
    int n_left_too_early = 0;
    for (int turn = 0; turn < n_turns; ++turn) {
        hand_over_at_the_end hand_over{of_one, comm_, turn % 200};
        of_one.execute([&] { n_left_too_early += hand_over.run_and_wait() ? 0 : 1; });
    }
    EXPECT_EQ(n_left_too_early, 0) << "of " << n_turns;
}

/// A graph that one thread waits for and drives. Each operation is with the rank itself.
class TbbDriving : public TbbFace {
protected:
    static void in_arena_of_one(const std::function<void()>& body) { ::tbb::task_arena{1}.execute(body); }
    [[nodiscard]] auto receive() {
        return [this](int& tag) { return commtask::recv(one(received_), rank_, tag, comm_); };
    }
    [[nodiscard]] auto send() {
        return [this](int& tag) { return commtask::send(one(rank_), rank_, tag, comm_); };
    }
    /// Runs on the thread that drives, when it does.
    void post_in_callback(const std::function<void()>& body) {
        commtask::post_detached(commtask::noop(comm_), commtask::then([body]() noexcept { body(); }));
    }

    int received_ = -1;
};

TEST_F(TbbDriving, ACancellationJustAsAWaitReturnsIsNotLost) {
    const paused_worker scope;
    in_arena_of_one([&] {
        flow::graph graph;
        ct::recv_node<int> never{graph, flow::serial, receive()};
        // Once: as the graph's own wait returns although the receive is pending, or as the thread drives within it.
        as_a_wait_returns = [&] { graph.cancel(); };
        flow::function_node<int> then(graph, flow::serial, [&](int) {
            post_in_callback([&] {
                if (as_a_wait_returns != nullptr) graph.cancel();
            });
        });
        then.try_put(0);
        never.try_put(900);
        ct::wait_for_all(graph);
        as_a_wait_returns = nullptr;
    });
    EXPECT_EQ(received_, -1);
}

TEST_F(TbbDriving, WhatAnotherThreadPutsIntoTheGraphRunsMeanwhile) {
    const paused_worker scope;
    std::atomic<bool> is_driving{false};
    in_arena_of_one([&] {
        flow::graph graph;
        ct::recv_node<int> receiver{graph, flow::serial, receive()};
        ct::send_node<int> sender{graph, flow::serial, send()};
        flow::function_node<int> then(graph, flow::serial, [&](int) { post_in_callback([&] { is_driving = true; }); });
        then.try_put(0);
        receiver.try_put(4);
        std::thread other{[&] {
            wait_until([&] { return is_driving.load(); });
            sender.try_put(4);
        }};
        ct::wait_for_all(graph);
        other.join();
    });
    EXPECT_EQ(received_, rank_);
}

TEST_F(TbbDriving, TheProgramsOwnAsyncNodesKeepNothingFromComing) {
    using outside_node = flow::async_node<int, int>;
    int n_ended = 0;
    in_arena_of_one([&] {
        flow::graph graph;
        std::atomic<outside_node::gateway_type*> gateway{nullptr};
        outside_node outside(graph, flow::serial, [&](int, outside_node::gateway_type& given) {
            given.reserve_wait();
            gateway = &given;
        });
        ct::recv_node<int> receiver{graph, flow::serial, receive()};
        ct::send_node<int> sender{graph, flow::serial, send()};
        std::atomic<bool> has_come{false};
        flow::function_node<int> note(graph, flow::serial, [&](int) { has_come = true; });
        flow::function_node<int> end(graph, flow::serial, [&](int value) { n_ended += value; });
        flow::make_edge(receiver, note);
        flow::make_edge(outside, end);
        outside.try_put(0);
        receiver.try_put(5);
        sender.try_put(5);
        std::thread other{[&] {
            wait_until([&] { return gateway != nullptr && has_come; });
            gateway.load()->try_put(1);
            gateway.load()->release_wait();
        }};
        ct::wait_for_all(graph);
        other.join();
    });
    EXPECT_EQ(n_ended, 1);
}

TEST_F(TbbDriving, ABodyThatIsSuspendedKeepsNothingFromComing) {
    bool went_on = false;
    in_arena_of_one([&] {
        flow::graph graph;
        commtask::event has_come;
        ct::recv_node<int> receiver{graph, flow::serial, receive()};
        ct::send_node<int> sender{graph, flow::serial, send()};
        flow::function_node<int> note(graph, flow::serial, [&](int) { has_come.signal(); });
        flow::function_node<int> waits(graph, flow::serial, [&](int) {
            ct::wait(has_come);
            went_on = true;
        });
        flow::make_edge(receiver, note);
        receiver.try_put(6);
        sender.try_put(6);
        waits.try_put(0);
        ct::wait_for_all(graph);
    });
    EXPECT_TRUE(went_on);
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
