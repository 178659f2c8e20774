// SPDX-License-Identifier: Apache-2.0
//
// No task outlives its buffers: an exception, the end of a scope and the end of a routine cancel what is open, and wait. What was
// canceled has not taken a message: a later receive gets it. The buffers are on the heap, so that AddressSanitizer sees
// who writes after their end.
#include "cpp_front_end.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace commtask::test {
namespace {

constexpr std::size_t n_large = 1U << 18U; ///< No MPI sends as many doubles eagerly.

class CppJoining : public CppFace {
protected:
    /// A message with this tag comes to who asks for it now.
    void expect_nothing_was_taken(int tag) {
        run(barrier(comm_));
        const int sent = 100 * tag + rank_;
        int received = -1;
        task sending = post(send(one(sent), right(), tag, comm_));
        run(recv(one(received), left(), tag, comm_));
        EXPECT_EQ(received, 100 * tag + left());
        EXPECT_TRUE(finish(sending));
    }

    [[nodiscard]] task receive_into(std::vector<int>& buffer, int tag) {
        return post(recv(buffer, left(), tag, comm_));
    }

    run_loop loop_;
};

TEST_F(CppJoining, AnExceptionEndsAReceiveBeforeItsBufferGoes) {
    EXPECT_THROW(
        {
            std::vector<int> buffer(100);
            const task received = receive_into(buffer, 1);
            throw std::runtime_error{"after a receive"};
        },
        std::runtime_error);
    expect_nothing_was_taken(1);
}

TEST_F(CppJoining, ARefusedPostEndsThoseBeforeIt) {
    EXPECT_EQ(code_of([&] {
                  std::vector<int> first(100);
                  std::vector<int> second(100);
                  const std::array<task, 3> all{receive_into(first, 1), receive_into(second, 2),
                                                post(send(first, n_ranks_ + 5, 1, comm_))};
              }),
              COMMTASK_ERR_RANK);
    expect_nothing_was_taken(1);
    expect_nothing_was_taken(2);
}

TEST_F(CppJoining, AnExceptionThatPassesOthersHandlesLeavesTheirTasksAlone) {
    std::vector<int> buffer(1);
    task outer = receive_into(buffer, 1);
    EXPECT_THROW(throw std::runtime_error{"inside"}, std::runtime_error);
    const int sent = 7;
    run(send(one(sent), right(), 1, comm_));
    EXPECT_TRUE(finish(outer));
    EXPECT_EQ(buffer[0], 7);
}

TEST_F(CppJoining, ARoutineThatThrowsEndsWhatItHasPosted) {
    const auto thrower = [this](bool is_detached) -> routine<int> {
        std::array<int, 100> in_frame{};
        auto on_heap = std::make_unique<std::vector<int>>(100);
        const task received = receive_into(*on_heap, 1);
        if (is_detached) post_detached(recv(in_frame, left(), 2, comm_));
        std::ignore = co_await perform(noop(comm_));
        std::ignore = co_await perform(send(in_frame, n_ranks_ + 5, 3, comm_));
        co_return in_frame[0];
    };
    for (const bool is_detached : {false, true}) {
        EXPECT_EQ(code_of([&] { std::ignore = loop_.run(thrower(is_detached)); }), COMMTASK_ERR_RANK);
        expect_nothing_was_taken(1);
        expect_nothing_was_taken(2);
    }
}

TEST_F(CppJoining, ARoutineThatReturnsEarlyEndsTheTasksOfItsHandles) {
    const auto early = [this](int tag) -> routine<int> {
        std::vector<int> buffer(100);
        const task received = receive_into(buffer, tag);
        std::ignore = co_await perform(noop(comm_));
        if (tag == 1) co_return 1;
        std::ignore = co_await perform(noop(comm_));
        co_return 2;
    };
    const auto both = [&]() -> routine<int> { co_return co_await early(1) + co_await early(2); };
    EXPECT_EQ(loop_.run(both()), 3);
    expect_nothing_was_taken(1);
    expect_nothing_was_taken(2);
}

TEST_F(CppJoining, WhatARoutineDetachesGoesOnAfterItsReturn) {
    std::vector<int> buffer(1);
    bool has_come = false;
    const auto detaching = [&]() -> routine<> {
        post_detached(recv(buffer, left(), 1, comm_),
                      then([&has_come](const outcome& ended) noexcept { has_come = ended.is_completed(); }));
        co_return;
    };
    loop_.start(detaching());
    loop_.run();
    const int sent = 7;
    run(send(one(sent), right(), 1, comm_));
    EXPECT_TRUE(runtime_->finalize());
    runtime_.reset();
    EXPECT_TRUE(has_come);
    EXPECT_EQ(buffer[0], 7);
}

TEST_F(CppJoining, AScopeEndsWhatIsOpenHoweverItIsLeft) {
    std::vector<int> first(100);
    std::vector<int> second(100);
    {
        const scope all;
        { const task dropped = receive_into(first, 1); }
        post_detached(recv(second, left(), 2, comm_));
    }
    expect_nothing_was_taken(1);
    expect_nothing_was_taken(2);
    EXPECT_THROW(
        {
            const scope all;
            { const task dropped = receive_into(first, 1); }
            post_detached(recv(second, left(), 2, comm_));
            throw std::runtime_error{"in a scope"};
        },
        std::runtime_error);
    expect_nothing_was_taken(1);
    expect_nothing_was_taken(2);
}

TEST_F(CppJoining, AScopeDoesNotTakeBackWhatWasSent) {
    constexpr int n_messages = 100;
    std::vector<int> received(n_messages, -1);
    std::vector<task> receives;
    for (int i = 0; i < n_messages; ++i) {
        receives.push_back(post(recv(one(received[static_cast<std::size_t>(i)]), left(), i, comm_)));
    }
    {
        std::vector<int> sent(n_messages);
        const scope all;
        for (int i = 0; i < n_messages; ++i) {
            int& mine = sent[static_cast<std::size_t>(i)] = i;
            if (i % 2 == 0) {
                post_detached(send(one(mine), right(), i, comm_));
            } else {
                const task dropped = post(send(one(mine), right(), i, comm_));
            }
        }
    }
    EXPECT_EQ(wait_all_for(receives, limit), ending::completed);
    for (int i = 0; i < n_messages; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)], i);
}

TEST_F(CppJoining, ASendToOneselfThatNobodyReceivesDoesNotKeepAScope) {
    const int sent = 7;
    const scope all;
    post_detached(send(one(sent), rank_, 1, comm_));
}

TEST_F(CppJoining, AScopeWaitsWithoutCanceling) {
    const std::vector<double> sent(n_large, rank_);
    std::vector<double> received(n_large);
    scope all;
    post_detached(recv(received, left(), 1, comm_));
    post_detached(send(sent, right(), 1, comm_));
    EXPECT_EQ(all.wait(), ending::completed);
    EXPECT_EQ(received.back(), left());
    event never;
    post_detached(noop(comm_), after(never));
    all.cancel();
    EXPECT_EQ(all.wait(), ending::canceled);
}

TEST_F(CppJoining, WhatWaitsForAnEventOfTheScopeIsCanceledWithIt) {
    int n_calls = 0;
    {
        const scope all;
        const event never;
        const task waiting = post(call([&n_calls] { ++n_calls; }, comm_), after(never));
        post_detached(call([&n_calls] { ++n_calls; }, comm_), after(waiting), run_after_failure);
    }
    // That one waits for nothing once its predecessor was canceled; which comes first is open.
    EXPECT_LE(n_calls, 1);
}

TEST_F(CppJoining, ScopesNestAndARoutineMayWaitInOne) {
    std::vector<int> buffer(100);
    const auto with_scope = [&](int tag) -> routine<> {
        const scope all;
        { const task dropped = receive_into(buffer, tag); }
        std::ignore = co_await perform(noop(comm_));
        post_detached(noop(comm_));
        std::ignore = co_await perform(noop(comm_));
    };
    const scope outer;
    {
        const scope inner;
        loop_.start(with_scope(1));
        loop_.start(with_scope(2));
        loop_.run();
        EXPECT_NE(frontend::owner::innermost(), nullptr);
    }
    expect_nothing_was_taken(1);
    expect_nothing_was_taken(2);
}

TEST_F(CppJoining, AMessageThatIsOnItsWayArrivesWhole) {
    const std::vector<double> sent(n_large, 1.0);
    for (int round = 0; round < 20; ++round) {
        const auto buffer = std::make_unique<std::vector<double>>(n_large, 0.0);
        task sending = post(send(sent, right(), 1, comm_));
        commtask_t receiving = post(recv(*buffer, left(), 1, comm_)).to_native();
        const int code = commtask_join(1, &receiving);
        EXPECT_EQ(receiving, COMMTASK_NULL);
        if (code == COMMTASK_CANCELED) {
            std::vector<double> later(n_large);
            run(recv(later, left(), 1, comm_));
            EXPECT_EQ(later.back(), 1.0);
        } else {
            EXPECT_EQ(code, COMMTASK_OK);
            EXPECT_EQ(buffer->front() + buffer->back(), 2.0);
        }
        EXPECT_TRUE(finish(sending));
    }
}

TEST_F(CppJoining, ALoopThatGoesEndsTheRoutinesThatWaitInIt) {
    int n_destroyed = 0;
    struct counter {
        int& n;
        ~counter() { ++n; }
    };
    event never;
    const auto inner = [&](int how) -> routine<int> {
        const counter counted{n_destroyed};
        const auto buffer = std::make_unique<std::vector<int>>(100);
        const task beside = receive_into(*buffer, 10 + how);
        int value = 0;
        task mine = post(recv(one(value), left(), how, comm_));
        std::array<task, 2> two{post(recv(*buffer, left(), 20 + how, comm_)), post(noop(comm_))};
        if (how == 1) std::ignore = co_await mine;
        if (how == 2) std::ignore = co_await perform(recv(one(value), left(), 30 + how, comm_));
        if (how == 3) std::ignore = co_await all(two);
        if (how == 4) co_await never;
        ADD_FAILURE() << "it was resumed";
        co_return value;
    };
    const auto outer = [&](int how) -> routine<> {
        const counter counted{n_destroyed};
        std::ignore = co_await inner(how);
    };
    EXPECT_THROW(
        {
            run_loop loop;
            for (const int how : {1, 2, 3, 4}) loop.start(outer(how));
            EXPECT_EQ(loop.unfinished(), 4U);
            throw std::runtime_error{"beside a loop"};
        },
        std::runtime_error);
    EXPECT_EQ(n_destroyed, 8);
    for (const int tag : {1, 2, 11, 12, 13, 14, 23, 32}) expect_nothing_was_taken(tag);
    run_loop ends_without_an_exception;
    ends_without_an_exception.start(outer(2));
}

TEST_F(CppJoining, ACallbackMayNotBeginAScopeAndDropsWithoutWaiting) {
    int code = COMMTASK_OK;
    run(call([&code] { code = code_of([] { const scope refused; }); }, comm_));
    EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
    const outcome thrown = finish(post(call(
        [this] {
            std::vector<int> buffer(100);
            const task dropped = receive_into(buffer, 1);
            throw std::runtime_error{"on the worker"};
        },
        comm_)));
    EXPECT_TRUE(thrown.is_failed());
    run(noop(comm_));
    expect_nothing_was_taken(1);
}

TEST_F(CppJoining, MembersOfAPlanAreNotTheScopes) {
    std::vector<int> buffer(1);
    const int sent = 7;
    plan halo;
    {
        const scope all;
        halo.record([&] {
            post_detached(recv(buffer, left(), 1, comm_));
            const task dropped = post(send(one(sent), right(), 1, comm_));
        });
    }
    for (int i = 0; i < 3; ++i) {
        task started = halo.start();
        EXPECT_TRUE(finish(started));
    }
    EXPECT_EQ(buffer[0], 7);
    commtask_t member = halo.member(0).to_native();
    EXPECT_EQ(commtask_join(1, &member), COMMTASK_OK);
    plan never_started{[&] { post_detached(recv(buffer, left(), 1, comm_)); }};
    member = never_started.member(0).to_native();
    EXPECT_EQ(commtask_join(1, &member), COMMTASK_OK);
}

TEST_F(CppJoining, JoiningRefusesWhatMakesNoSense) {
    EXPECT_EQ(commtask_join(1, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_join(0, nullptr), COMMTASK_OK);
    commtask_t none = COMMTASK_NULL;
    EXPECT_EQ(commtask_join(1, &none), COMMTASK_OK);
}

TEST_F(CppJoining, TheRuntimeMayBeDeclaredBeforeItsBuffersOrAfter) {
    EXPECT_TRUE(runtime_->finalize());
    runtime_.reset();
    config impatient;
    impatient.finalize_timeout_s = 0.05;
    for (const bool is_first : {true, false}) {
        EXPECT_THROW(
            {
                std::optional<runtime> first;
                if (is_first) first.emplace(impatient);
                std::vector<int> buffer(100);
                std::optional<runtime> last;
                if (!is_first) last.emplace(impatient);
                const task received = receive_into(buffer, 1);
                throw std::runtime_error{"beside a runtime"};
            },
            std::runtime_error);
    }
    runtime_.emplace();
    expect_nothing_was_taken(1);
}

} // namespace
} // namespace commtask::test
