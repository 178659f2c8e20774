// SPDX-License-Identifier: Apache-2.0
//
// Owners: a task that is dropped goes on, a moved one is empty, waiting empties a handle and a timeout does not. The
// runtime can be made again after it has ended, and says what is wrong where it cannot be made.
#include "cpp_front_end.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <tuple>
#include <type_traits>

namespace {
std::atomic<int> n_null_requests_canceled{0};
} // namespace

/// Between the library and MPI: to cancel a null request is an error that MPI need not report.
extern "C" __attribute__((visibility("default"))) int MPI_Cancel(MPI_Request* request) {
    if (*request != MPI_REQUEST_NULL) return PMPI_Cancel(request);
    ++n_null_requests_canceled;
    return MPI_ERR_REQUEST;
}

namespace commtask::test {
namespace {

static_assert(!std::is_copy_constructible_v<task> && std::is_nothrow_move_constructible_v<task>);
static_assert(!std::is_copy_constructible_v<event> && std::is_nothrow_move_constructible_v<event>);
static_assert(!std::is_copy_constructible_v<runtime> && !std::is_move_constructible_v<runtime>);
static_assert(std::is_nothrow_destructible_v<task>);
static_assert(sizeof(task) == sizeof(commtask_t));

class CppHandles : public CppFace {};

TEST_F(CppHandles, ADroppedTaskGoesOn) {
    std::atomic<int> calls{0};
    event go;
    {
        const task dropped = post(call([&] { ++calls; }, comm_), after(go));
    }
    post_detached(call([&] { ++calls; }, comm_), after(go));
    EXPECT_EQ(calls, 0);
    go.signal();
    EXPECT_TRUE(runtime_->finalize());
    runtime_.reset();
    EXPECT_EQ(calls, 2);
}

TEST_F(CppHandles, AnEmptyHandleCountsAsEnded) {
    task empty;
    EXPECT_FALSE(empty);
    EXPECT_TRUE(empty.wait());
    EXPECT_TRUE(empty.test().has_value());
    EXPECT_TRUE(empty.wait_for(limit).has_value());
    EXPECT_EQ(code_of([&] { empty.cancel(); }), COMMTASK_ERR_ARGUMENT);
    empty.release();
    EXPECT_EQ(wait_any(std::span<task>{}).index, 0U);
    EXPECT_EQ(wait_all(std::span<task>{}), ending::completed);
}

TEST_F(CppHandles, MovingLeavesAnEmptyHandleBehind) {
    event go;
    task first = post(noop(comm_), after(go));
    task second{std::move(first)};
    EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move): that it is empty is the promise
    EXPECT_TRUE(second);
    first = std::move(second);
    first = post(noop(comm_), after(go)); // the task held before goes on
    commtask_t raw = first.to_native();
    EXPECT_FALSE(first);
    task adopted = task::adopt(raw);
    go.signal();
    EXPECT_TRUE(finish(adopted));
    event moved{std::move(go)};
    EXPECT_EQ(go.native(), COMMTASK_EVENT_NULL); // NOLINT(bugprone-use-after-move)
}

TEST_F(CppHandles, ATimeoutKeepsTheHandle) {
    event go;
    task waiting = post(noop(comm_), after(go));
    EXPECT_FALSE(waiting.test());
    EXPECT_FALSE(waiting.wait_for(std::chrono::microseconds{50}));
    EXPECT_FALSE(waiting.wait_for(std::chrono::seconds{-1}));
    EXPECT_TRUE(waiting);
    go.signal();
    EXPECT_TRUE(finish(waiting));
    EXPECT_FALSE(waiting);
}

TEST_F(CppHandles, WaitingForAnyAndForAll) {
    // More than fit into the object that borrows the handles.
    constexpr std::size_t n_tasks = 40;
    event rest;
    std::vector<task> tasks;
    for (std::size_t i = 0; i < n_tasks; ++i) {
        tasks.push_back(i == 33 ? post(noop(comm_)) : post(noop(comm_), after(rest)));
    }
    const ended_task first = wait_any(tasks);
    EXPECT_EQ(first.index, 33U);
    EXPECT_TRUE(first.result);
    EXPECT_FALSE(tasks[33]);
    EXPECT_FALSE(wait_any_for(tasks, std::chrono::microseconds{50}));
    EXPECT_FALSE(wait_all_for(tasks, std::chrono::microseconds{50}));
    EXPECT_TRUE(tasks[0]);
    rest.signal();
    EXPECT_EQ(wait_all_for(tasks, limit), ending::completed);
    EXPECT_FALSE(tasks[0]);

    std::array<task, 2> mixed{post(call([] { return MPI_ERR_OTHER; }, comm_)), post(noop(comm_))};
    EXPECT_EQ(wait_all(mixed), ending::failed);
    event never;
    mixed[0] = post(noop(comm_), after(never));
    mixed[0].cancel();
    EXPECT_EQ(wait_all(mixed), ending::canceled);
    never.signal();
}

TEST_F(CppHandles, WaitingOnTheWorkerIsRefused) {
    event go;
    task waiting = post(noop(comm_), after(go));
    int code = COMMTASK_OK;
    run(call([&] { code = code_of([&] { std::ignore = waiting.wait(); }); }, comm_));
    EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
    go.signal();
    EXPECT_TRUE(finish(waiting));
}

TEST_F(CppHandles, AReceiveThatNobodyAnswersIsWithdrawn) {
    int never = 0;
    task lonely = post(recv(one(never), MPI_ANY_SOURCE, 77, comm_));
    EXPECT_FALSE(lonely.wait_for(std::chrono::milliseconds{1}));
    lonely.cancel();
    EXPECT_TRUE(finish(lonely).is_canceled());
}

TEST_F(CppHandles, ACallbackMayCancelATaskThatHasEndedInTheSameLook) {
    constexpr std::size_t n_messages = 8;
    std::array<int, n_messages> received{};
    const int sent = 5;
    // The messages are there before their receives, though MPI may keep them open until then: all receives end in the
    // first look.
    std::vector<task> sends;
    for (std::size_t i = 0; i < n_messages; ++i) {
        sends.push_back(post(send(one(sent), rank_, static_cast<int>(i), comm_)));
    }
    // One that left later has come, so all have: Intel MPI takes its time with messages to oneself.
    int later = 0;
    task last = post(recv(one(later), rank_, static_cast<int>(n_messages), comm_));
    run(send(one(sent), rank_, static_cast<int>(n_messages), comm_));
    EXPECT_TRUE(finish(last).is_completed());
    event go;
    const task gate = post(noop(comm_), after(go)); // releases all of them at once
    std::array<task, n_messages> receives;
    const auto cancel_all = [&receives](const outcome&) noexcept {
        for (const task& each : receives) static_cast<void>(commtask_cancel(each.native()));
    };
    for (std::size_t i = 0; i < n_messages; ++i) {
        receives[i] = post(recv(one(received[i]), rank_, static_cast<int>(i), comm_), after(gate), then(cancel_all));
    }
    go.signal();
    run(noop(comm_), after(receives), run_after_failure); // all callbacks are over: the handles may change
    for (task& each : receives) EXPECT_TRUE(finish(each).is_completed());
    EXPECT_EQ(wait_all(sends), ending::completed);
    EXPECT_EQ(n_null_requests_canceled, 0);
}

TEST_F(CppHandles, TheRuntimeCanBeMadeAgainButNotTwice) {
    EXPECT_EQ(code_of([] { const runtime second; }), COMMTASK_ERR_ALREADY_INITIALIZED);
    EXPECT_GE(runtime_->info().lanes, 1U);
    EXPECT_TRUE(runtime_->finalize());
    EXPECT_EQ(code_of([&] { static_cast<void>(runtime_->info()); }), COMMTASK_ERR_NOT_INITIALIZED);
    EXPECT_EQ(code_of([&] { static_cast<void>(runtime_->finalize()); }), COMMTASK_ERR_NOT_INITIALIZED);
    EXPECT_EQ(code_of([&] { post_detached(noop(comm_)); }), COMMTASK_ERR_NOT_INITIALIZED);
    runtime_.reset();
    config bad;
    bad.idle = "lazy";
    EXPECT_EQ(code_of([&] { const runtime refused{bad}; }), COMMTASK_ERR_CONFIG);
    runtime_.emplace();
    register_comm(comm_);
    run(noop(comm_));
}

/// A short limit for what never completes.
class CppEnd : public CppFace {
    [[nodiscard]] config settings() const override {
        config impatient;
        impatient.finalize_timeout_s = 0.05;
        return impatient;
    }
};

TEST_F(CppEnd, TasksThatCanNeverCompleteAreGivenUpWithTheirClosures) {
    std::atomic<int> calls{0};
    event never;
    post_detached(noop(comm_), after(never), then([&calls](const outcome& ended) noexcept {
                      if (ended.is_canceled()) ++calls;
                  }));
    EXPECT_FALSE(runtime_->finalize());
    runtime_.reset();
    EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace commtask::test
