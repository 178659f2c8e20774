// SPDX-License-Identifier: Apache-2.0
//
// co_await: a coroutine goes on when its task has ended, on the thread of its executor and never on the worker; outcomes,
// results and exceptions reach whoever awaits. One coroutine type of the test's own stands for those of other libraries.
#include "cpp_front_end.hpp"

#include <array>
#include <atomic>
#include <coroutine>
#include <exception>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace commtask::test {
namespace {

class CppCoroutine : public CppFace {
protected:
    run_loop loop_;
};

TEST_F(CppCoroutine, GoesOnWithTheOutcomeOnTheThreadOfItsLoop) {
    const auto exchange = [this]() -> routine<int> {
        const int sent = rank_;
        int received = -1;
        task receive = post(recv(one(received), left(), 1, comm_));
        const outcome sending = co_await perform(send(one(sent), right(), 1, comm_));
        EXPECT_TRUE(sending);
        const outcome receiving = co_await receive;
        EXPECT_TRUE(receiving);
        EXPECT_FALSE(receive);
        EXPECT_EQ(receiving.status().source(), left());
        co_return received;
    };
    const std::thread::id me = std::this_thread::get_id();
    const auto with_thread = [&]() -> routine<int> {
        const int received = co_await exchange();
        EXPECT_EQ(std::this_thread::get_id(), me);
        co_return received;
    };
    EXPECT_EQ(loop_.run(with_thread()), left());
}

TEST_F(CppCoroutine, ManyRoutinesInterleave) {
    // Each waits for a message that the previous one sends only after its own came round the ring.
    constexpr int n_routines = 50;
    std::vector<int> values(n_routines, -1);
    const auto stage = [&](int i) -> routine<> {
        int& value = values[static_cast<std::size_t>(i)];
        const outcome received = co_await perform(recv(one(value), left(), i, comm_));
        EXPECT_TRUE(received);
        if (i + 1 < n_routines) {
            const int next = value + 1;
            const outcome sent = co_await post(send(one(next), right(), i + 1, comm_));
            EXPECT_TRUE(sent);
        }
    };
    for (int i = n_routines - 1; i >= 0; --i) loop_.start(stage(i));
    EXPECT_EQ(loop_.unfinished(), static_cast<std::size_t>(n_routines));
    const int seed = 100;
    task first = post(send(one(seed), right(), 0, comm_));
    loop_.run();
    EXPECT_EQ(loop_.unfinished(), 0U);
    EXPECT_TRUE(finish(first));
    EXPECT_EQ(values.back(), 100 + n_routines - 1);
}

TEST_F(CppCoroutine, AwaitsEventsAndAllOfSeveralTasks) {
    event go;
    std::array<task, 3> tasks{post(noop(comm_), after(go)), post(noop(comm_)),
                              post(call([] { return MPI_ERR_OTHER; }, comm_))};
    ending ended = ending::completed;
    loop_.start([](event& awaited, std::span<task> all_tasks, ending& result) -> routine<> {
        co_await awaited;
        result = co_await all(all_tasks);
        EXPECT_EQ(co_await all({}), ending::completed);
    }(go, tasks, ended));
    EXPECT_FALSE(loop_.run_ready());
    go.signal();
    loop_.run();
    EXPECT_EQ(ended, ending::failed);
    EXPECT_FALSE(tasks[0]);
}

TEST_F(CppCoroutine, SeesFailureAndCancellationAsValues) {
    const auto main = [this]() -> routine<> {
        const outcome failed = co_await perform(call([] { return MPI_ERR_OTHER; }, comm_));
        EXPECT_TRUE(failed.is_failed());
        event never;
        task waiting = post(noop(comm_), after(never));
        waiting.cancel();
        const outcome canceled = co_await waiting;
        EXPECT_TRUE(canceled.is_canceled());
        never.signal();
        // A task that has ended already does not suspend the coroutine for long.
        task done = post(noop(comm_));
        EXPECT_TRUE(finish(post(noop(comm_), after(done))));
        const outcome completed = co_await done;
        EXPECT_TRUE(completed);
    };
    loop_.run(main());
}

TEST_F(CppCoroutine, ARefusedPostIsAnExceptionInTheCoroutine) {
    const auto main = []() -> routine<int> {
        try {
            std::ignore = co_await perform(barrier(MPI_COMM_NULL));
        } catch (const error& caught) {
            co_return caught.code();
        }
        co_return COMMTASK_OK;
    };
    EXPECT_EQ(loop_.run(main()), COMMTASK_ERR_COMM);
}

TEST_F(CppCoroutine, ExceptionsReachWhoeverAwaitsAfterAllOthersHaveEnded) {
    bool other_ended = false;
    const auto thrower = [this]() -> routine<int> {
        std::ignore = co_await perform(noop(comm_));
        throw std::runtime_error{"from a routine"};
    };
    const auto other = [&]() -> routine<> {
        for (int i = 0; i < 10; ++i) std::ignore = co_await perform(noop(comm_));
        other_ended = true;
    };
    loop_.start(other());
    EXPECT_THROW(loop_.run(thrower()), std::runtime_error);
    EXPECT_TRUE(other_ended);
    const auto awaiting = [&]() -> routine<> { std::ignore = co_await thrower(); };
    loop_.start(awaiting());
    EXPECT_THROW(loop_.run(), std::runtime_error);
    loop_.run(); // and only once
}

TEST_F(CppCoroutine, ARoutineThatIsNeverAwaitedNeverRuns) {
    bool ran = false;
    {
        const auto unused = [&]() -> routine<> {
            ran = true;
            co_return;
        };
        const routine<> dropped = unused();
    }
    EXPECT_FALSE(ran);
}

TEST_F(CppCoroutine, ChainsOfAnyLengthNeedNoStack) {
    const auto main = [this]() -> routine<int> {
        int n_completed = 0;
        for (int i = 0; i < 20'000; ++i) {
            const outcome ended = co_await perform(noop(comm_));
            n_completed += ended ? 1 : 0;
        }
        co_return n_completed;
    };
    EXPECT_EQ(loop_.run(main()), 20'000);
}

/// What another library's coroutine looks like: it knows nothing of executors.
struct foreign {
    struct promise_type {
        [[nodiscard]] foreign get_return_object() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

TEST_F(CppCoroutine, ForeignCoroutinesNameTheirExecutor) {
    int steps = 0;
    const std::thread::id me = std::this_thread::get_id();
    [](run_loop& loop, MPI_Comm comm, int& done, std::thread::id expected) -> foreign {
        event go;
        go.signal();
        std::ignore = co_await resume_on(loop, post(noop(comm)));
        ++done;
        std::ignore = co_await resume_on(loop, perform(noop(comm)));
        ++done;
        co_await resume_on(loop, go);
        ++done;
        std::array<task, 2> two{post(noop(comm)), post(noop(comm))};
        EXPECT_EQ(co_await resume_on(loop, all(two)), ending::completed);
        EXPECT_EQ(std::this_thread::get_id(), expected);
        ++done;
    }(loop_, comm_, steps, me);
    while (steps < 4) {
        if (!loop_.run_ready()) std::this_thread::yield();
    }
}

TEST_F(CppCoroutine, EveryThreadMayHaveALoop) {
    constexpr int n_threads = 3;
    constexpr int n_rounds = 200;
    std::array<std::thread, n_threads> threads;
    std::atomic<int> n_wrong{0};
    for (int t = 0; t < n_threads; ++t) {
        threads[static_cast<std::size_t>(t)] = std::thread{[&, t] {
            const auto ring = [&](int tag) -> routine<> {
                for (int i = 0; i < n_rounds; ++i) {
                    int received = -1;
                    const int sent = i;
                    task sending = post(send(one(sent), right(), tag, comm_));
                    std::ignore = co_await perform(recv(one(received), left(), tag, comm_));
                    std::ignore = co_await sending;
                    if (received != i) ++n_wrong;
                }
            };
            run_loop loop;
            loop.start(ring(2 * t));
            loop.run(ring(2 * t + 1));
        }};
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(n_wrong, 0);
}

/// A short limit for what never completes.
class CppCoroutineEnd : public CppFace {
    [[nodiscard]] config settings() const override {
        config impatient;
        impatient.finalize_timeout_s = 0.05;
        return impatient;
    }
};

TEST_F(CppCoroutineEnd, RoutinesThatWaitForWhatNeverEndsGoOnWhenTheLibraryEnds) {
    run_loop loop;
    event never;
    bool performed_canceled = false;
    bool awaited_canceled = false;
    loop.start([](MPI_Comm comm, event& awaited, bool& canceled) -> routine<> {
        const outcome ended = co_await perform(noop(comm), after(awaited));
        canceled = ended.is_canceled();
    }(comm_, never, performed_canceled));
    loop.start([](MPI_Comm comm, event& awaited, bool& canceled) -> routine<> {
        task waiting = post(noop(comm), after(awaited));
        const outcome ended = co_await waiting;
        canceled = ended.is_canceled();
    }(comm_, never, awaited_canceled));
    EXPECT_FALSE(runtime_->finalize());
    runtime_.reset();
    loop.run();
    EXPECT_TRUE(performed_canceled);
    EXPECT_TRUE(awaited_canceled);
}

} // namespace
} // namespace commtask::test
