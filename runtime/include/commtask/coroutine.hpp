// SPDX-License-Identifier: Apache-2.0
//
// co_await on tasks. The worker must not compute or block, so it never resumes a coroutine. The
// worker gives the coroutine to an executor, which resumes it on a thread of the program.
// commtask::routine knows its executor (such as run_loop.hpp); other coroutine types name it with
// resume_on(). The coroutine frame has all state of the wait, so co_await allocates nothing.
#pragma once

#include <commtask/closure.hpp>
#include <commtask/options.hpp>
#include <commtask/post.hpp>
#include <commtask/task.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace commtask {

class run_loop;

/// @cond
namespace frontend {
class awaiter;
} // namespace frontend
/// @endcond

/// A suspended coroutine that can be resumed. The object is in the frame of the coroutine, and is
/// invalid after resume().
class resumption {
public:
    resumption() noexcept = default;
    resumption(const resumption&) = delete;
    resumption& operator=(const resumption&) = delete;

    /// Resumes the coroutine on the calling thread, once.
    void resume() { coroutine_.resume(); }

    /// Free for use by executors that keep a list, between resume_later() and resume().
    resumption* next = nullptr;

protected:
    /// Not deleted through this class.
    ~resumption() = default;
    /// The coroutine that resume() resumes.
    std::coroutine_handle<> coroutine_;

private:
    friend frontend::awaiter;
    friend run_loop;

    // Used by run_loop during the wait:
    resumption* next_suspended_ = nullptr;
    resumption* previous_suspended_ = nullptr;
    commtask_t awaited_ = COMMTASK_NULL; ///< The awaited task, whose callback resumes.
    bool is_noted_ = false;
};

/// Resumes coroutines after a co_await.
class executor {
public:
    executor() noexcept = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;

    /// Arranges that `ready` is resumed soon, on a thread that may compute. The worker calls this
    /// function, which must not block, resume or compute.
    /// @param ready  stays valid until it is resumed.
    virtual void resume_later(resumption& ready) noexcept = 0;

    /// @cond
    /// For an executor whose thread is the calling thread: remembers a suspended coroutine.
    /// @return where to write the handle of the awaited task; null: do not write it, since another
    ///         thread may resume the coroutine before the write
    [[nodiscard]] virtual commtask_t* note_suspended(resumption& /*suspended*/) noexcept { return nullptr; }
    /// Undoes note_suspended() after a failed post.
    virtual void forget_suspended(resumption& /*suspended*/) noexcept {}
    /// @endcond

protected:
    /// Not deleted through this class.
    ~executor() = default;
};

/// @cond
namespace frontend {

/// Coroutines whose promise names their executor.
template <typename Promise>
concept knows_executor = requires(Promise& promise) {
    { promise.resumes_on() } -> std::convertible_to<executor*>;
};

/// Base of all awaiters: passes a callback of the C interface on to the executor.
class awaiter : public resumption {
public:
    explicit awaiter(executor* where) noexcept : executor_(where), is_named_(where != nullptr) {}

protected:
    ~awaiter() = default;

    template <typename Promise>
    void suspend(std::coroutine_handle<Promise> coroutine) noexcept {
        coroutine_ = coroutine;
        if constexpr (knows_executor<Promise>) {
            if (executor_ == nullptr) executor_ = coroutine.promise().resumes_on();
        }
    }
    void hand_over() noexcept { executor_->resume_later(*this); }

    /// Posts the task that will call hand_over(). After success do not touch *this: another thread
    /// may resume the coroutine.
    /// @param post  int(commtask_t*)
    template <typename Post>
    void post_awaited(Post&& post) {
        executor* const where = executor_;
        const int code = post(is_named_ ? nullptr : where->note_suspended(*this));
        if (code == COMMTASK_OK) return;
        where->forget_suspended(*this);
        refuse(code);
    }

private:
    executor* executor_;
    bool is_named_; ///< Named by resume_on(): the coroutine does not belong to the executor.
};

/// Checks that a coroutine has an executor, by itself or by resume_on().
template <typename Promise, bool HasExecutor>
constexpr void require_executor() {
    static_assert(HasExecutor || knows_executor<Promise>,
                  "this coroutine has no executor: co_await resume_on(executor, what)");
}

/// Resumes when tasks and events have ended: posts a noop with these predecessors, and resumes in
/// its callback.
template <bool HasExecutor>
class joining_awaiter : public awaiter {
public:
    joining_awaiter(executor* where, after_option predecessors) : awaiter(where), after_(std::move(predecessors)) {}

    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> coroutine) {
        require_executor<Promise, HasExecutor>();
        suspend(coroutine);
        commtask_options raw = COMMTASK_OPTIONS_INIT;
        after_.apply(raw);
        raw.flags = COMMTASK_RUN_AFTER_FAILURE | COMMTASK_CALLBACK_RELAYS | COMMTASK_CALLBACK_STATE;
        raw.callback = [](const commtask_status* /*status*/, void* self) noexcept {
            static_cast<joining_awaiter*>(self)->hand_over();
        };
        raw.callback_argument = this;
        this->post_awaited(
            [&raw](commtask_t* handle) { return commtask_post(commtask_op_noop(MPI_COMM_SELF), &raw, handle); });
    }

protected:
    ~joining_awaiter() = default;

private:
    after_option after_;
};

template <bool HasExecutor>
class task_awaiter final : public joining_awaiter<HasExecutor> {
public:
    task_awaiter(executor* where, task& awaited)
        : joining_awaiter<HasExecutor>(where, after(awaited)), awaited_(awaited) {}
    ~task_awaiter() = default;
    task_awaiter(const task_awaiter&) = delete;
    task_awaiter& operator=(const task_awaiter&) = delete;

    [[nodiscard]] bool await_ready() {
        ended_ = awaited_.test();
        return ended_.has_value();
    }
    outcome await_resume() {
        if (!ended_) ended_ = awaited_.test();
        if (ended_) return *ended_;
        // commtask_finalize gave the noop up before the task that it waited for.
        outcome given_up;
        given_up.native().state = COMMTASK_STATE_CANCELED;
        return given_up;
    }

private:
    task& awaited_;
    std::optional<outcome> ended_;
};

template <bool HasExecutor>
class all_awaiter final : public joining_awaiter<HasExecutor> {
public:
    all_awaiter(executor* where, std::span<task> awaited)
        : joining_awaiter<HasExecutor>(where, after(awaited)), awaited_(awaited) {}
    ~all_awaiter() = default;
    all_awaiter(const all_awaiter&) = delete;
    all_awaiter& operator=(const all_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return awaited_.empty(); }
    [[nodiscard]] ending await_resume() {
        // All tasks have ended, or commtask_finalize has given them up.
        return wait_all_for(awaited_, std::chrono::seconds{0}).value_or(ending::canceled);
    }

private:
    std::span<task> awaited_;
};

template <bool HasExecutor>
class event_awaiter final : public joining_awaiter<HasExecutor> {
public:
    event_awaiter(executor* where, const event& awaited) : joining_awaiter<HasExecutor>(where, after(awaited)) {}
    ~event_awaiter() = default;
    event_awaiter(const event_awaiter&) = delete;
    event_awaiter& operator=(const event_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_resume() const noexcept {}
};

} // namespace frontend
/// @endcond

/// An operation that is posted when it is awaited, without a handle. Made by perform().
template <typename What, typename... Options>
class [[nodiscard]] performance {
public:
    /// @param what  the operation.
    /// @param options  as for post().
    explicit performance(What what, Options... options) : what_(std::move(what)), options_(std::move(options)...) {}

    /// @cond
    template <bool HasExecutor>
    class awaiter final : public frontend::awaiter {
    public:
        awaiter(executor* where, performance&& posted) : frontend::awaiter(where), posted_(std::move(posted)) {}
        ~awaiter() = default;
        awaiter(const awaiter&) = delete;
        awaiter& operator=(const awaiter&) = delete;

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <typename Promise>
        void await_suspend(std::coroutine_handle<Promise> coroutine) {
            frontend::require_executor<Promise, HasExecutor>();
            suspend(coroutine);
            // Move the options out of the frame: after the post another thread may end it.
            performance mine{std::move(posted_)};
            const auto go_on = then([this](const outcome& ended) noexcept {
                result_ = ended;
                hand_over();
            });
            std::apply(
                [&](auto&... option) {
                    post_awaited([&](commtask_t* handle) {
                        return frontend::post_raw(handle, COMMTASK_NONE, std::move(mine.what_), option..., go_on);
                    });
                },
                mine.options_);
        }
        outcome await_resume() const noexcept { return result_; }

    private:
        performance posted_;
        outcome result_;
    };
    [[nodiscard]] awaiter<false> operator co_await() && { return {nullptr, std::move(*this)}; }
    [[nodiscard]] awaiter<true> on(executor& where) && { return {&where, std::move(*this)}; }
    /// @endcond

private:
    What what_;
    std::tuple<Options...> options_;
};

/// Makes an operation to co_await: it is posted, and the coroutine resumes when the task has ended.
/// This is the cheapest co_await: one task, no handle.
/// @param what  an operation, or the result of start() or call().
/// @param options  any of after(), ordered, unordered, run_after_failure, report_to().
/// @return an object to co_await at once; it gives the outcome.
template <postable What, posting_option... Options>
    requires(!frontend::is_then<Options> && ...)
[[nodiscard]] auto perform(What&& what, Options&&... options) {
    return performance<std::remove_cvref_t<What>, std::remove_cvref_t<Options>...>{std::forward<What>(what),
                                                                                   std::forward<Options>(options)...};
}

/// Several tasks to co_await together. Made by all().
struct all_of_tasks {
    std::span<task> tasks; ///< Their handles are empty afterwards.
};

/// Makes an object to co_await several tasks: the coroutine resumes when all have ended.
/// @param tasks  handles; empty ones are skipped. All are empty afterwards.
/// @return an object to co_await; it gives failed if at least one task failed, else canceled if at
///         least one was canceled, else completed.
[[nodiscard]] inline all_of_tasks all(std::span<task> tasks) noexcept { return {tasks}; }

/// co_await task: resumes when the task has ended; the handle is empty afterwards.
/// @param awaited  must live until then.
/// @return an awaiter that gives the outcome.
[[nodiscard]] inline auto operator co_await(task& awaited) { return frontend::task_awaiter<false>{nullptr, awaited}; }

/// co_await post(...): resumes when the task has ended. The temporary lives as long as the
/// co_await.
/// @param awaited  a temporary handle.
/// @return an awaiter that gives the outcome.
[[nodiscard]] inline auto operator co_await(task&& awaited) { return frontend::task_awaiter<false>{nullptr, awaited}; }

/// co_await event: resumes when the event is complete.
/// @param awaited  must live until then.
/// @return an awaiter that gives nothing.
[[nodiscard]] inline auto operator co_await(const event& awaited) {
    return frontend::event_awaiter<false>{nullptr, awaited};
}

/// co_await all(tasks): resumes when all have ended.
/// @param awaited  the handles must live until then.
/// @return an awaiter that gives the common ending.
[[nodiscard]] inline auto operator co_await(all_of_tasks awaited) {
    return frontend::all_awaiter<false>{nullptr, awaited.tasks};
}

/// co_await resume_on(executor, task), in a coroutine that does not know its executor.
/// @param where  resumes the coroutine.
/// @param awaited  a task; must live until then.
/// @return an awaiter that gives the outcome.
[[nodiscard]] inline auto resume_on(executor& where, task& awaited) {
    return frontend::task_awaiter<true>{&where, awaited};
}

/// co_await resume_on(executor, post(...)), in a coroutine that does not know its executor.
/// @param where  resumes the coroutine.
/// @param awaited  a temporary of the same co_await.
/// @return an awaiter that gives the outcome.
[[nodiscard]] inline auto resume_on(executor& where, task&& awaited) {
    return frontend::task_awaiter<true>{&where, awaited};
}

/// co_await resume_on(executor, event), in a coroutine that does not know its executor.
/// @param where  resumes the coroutine.
/// @param awaited  an event; must live until then.
/// @return an awaiter that gives nothing.
[[nodiscard]] inline auto resume_on(executor& where, const event& awaited) {
    return frontend::event_awaiter<true>{&where, awaited};
}

/// co_await resume_on(executor, all(tasks)), in a coroutine that does not know its executor.
/// @param where  resumes the coroutine.
/// @param awaited  the handles must live until then.
/// @return an awaiter that gives the common ending.
[[nodiscard]] inline auto resume_on(executor& where, all_of_tasks awaited) {
    return frontend::all_awaiter<true>{&where, awaited.tasks};
}

/// co_await resume_on(executor, perform(...)), in a coroutine that does not know its executor.
/// @param where  resumes the coroutine.
/// @param posted  from perform().
/// @return an awaiter that gives the outcome.
template <typename What, typename... Options>
[[nodiscard]] auto resume_on(executor& where, performance<What, Options...>&& posted) {
    return std::move(posted).on(where);
}

} // namespace commtask
