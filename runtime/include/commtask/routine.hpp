// SPDX-License-Identifier: Apache-2.0
//
// A coroutine type for communication code. A routine begins when it is awaited or given to a
// run_loop, and its run_loop resumes it. The coroutine that awaits a routine gets its result or
// exception. The type is small on purpose: a program with a coroutine type of its own uses that
// type with resume_on().
#pragma once

#include <commtask/coroutine.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace commtask {

template <typename Result>
class routine;
class run_loop;

/// @cond
namespace frontend {

/// Owner of a routine's tasks, in the frame of the routine. While the routine runs, it is the
/// innermost owner of the thread.
class frame_owner : public owner {
public:
    void go_in() noexcept {
        if (is_in_) return;
        is_in_ = true;
        is_entered();
        outer_ = owner::enter(inner_);
    }
    void go_out() noexcept {
        if (!is_in_) return;
        is_in_ = false;
        inner_ = owner::enter(outer_); // may be a scope that the routine waits in
    }

private:
    owner* inner_ = this;
    owner* outer_ = nullptr;
    bool is_in_ = false;
};

/// Returns the result of operator co_await, if there is one; otherwise the argument, which is an
/// awaiter itself.
template <typename Awaited>
[[nodiscard]] decltype(auto) awaiter_of(Awaited&& awaited) {
    if constexpr (requires { std::forward<Awaited>(awaited).operator co_await(); }) {
        return std::forward<Awaited>(awaited).operator co_await();
    } else if constexpr (requires { operator co_await(std::forward<Awaited>(awaited)); }) {
        return operator co_await(std::forward<Awaited>(awaited));
    } else {
        return std::forward<Awaited>(awaited);
    }
}

/// An awaiter that leaves the frame_owner while the routine is suspended, since the thread does
/// other work then.
template <typename Awaiter>
struct awaiter_in_frame {
    frame_owner& frame;
    Awaiter awaiter;

    [[nodiscard]] bool await_ready() { return static_cast<bool>(awaiter.await_ready()); }
    template <typename Promise>
    auto await_suspend(std::coroutine_handle<Promise> coroutine) {
        frame.go_out();
        try {
            return awaiter.await_suspend(coroutine);
        } catch (...) {
            frame.go_in();
            throw;
        }
    }
    decltype(auto) await_resume() {
        frame.go_in();
        return awaiter.await_resume();
    }
};

class promise_base {
public:
    promise_base() noexcept = default;
    promise_base(const promise_base&) = delete;
    promise_base& operator=(const promise_base&) = delete;
    /// Joins tasks that are left if the loop does not resume the routine any more.
    ~promise_base() { frame_.join_all(); }

    [[nodiscard]] auto initial_suspend() noexcept {
        struct beginning {
            frame_owner& frame;
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) const noexcept {}
            void await_resume() const noexcept { frame.go_in(); }
        };
        return beginning{frame_};
    }
    [[nodiscard]] auto final_suspend() noexcept {
        frame_.go_out();
        frame_.let_go();
        struct back {
            std::coroutine_handle<> continuation;
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
                return continuation;
            }
            void await_resume() const noexcept {}
        };
        return back{continuation_};
    }
    /// Joins the tasks that were posted without a handle. Tasks with handles were joined when the
    /// exception unwound the handles.
    void unhandled_exception() noexcept {
        exception_ = std::current_exception();
        frame_.join_all();
    }
    template <typename Awaited>
    [[nodiscard]] auto await_transform(Awaited&& awaited) {
        using kept = decltype(awaiter_of(std::forward<Awaited>(awaited)));
        return awaiter_in_frame<kept>{frame_, awaiter_of(std::forward<Awaited>(awaited))};
    }
    [[nodiscard]] executor* resumes_on() const noexcept { return executor_; }

    void begin(std::coroutine_handle<> continuation, executor* where) noexcept {
        continuation_ = continuation;
        executor_ = where;
    }
    void rethrow() const {
        if (exception_) std::rethrow_exception(exception_);
    }

protected:
    /// Marks the end of the routine: its variables are destroyed from here on.
    void leave_frame() noexcept { frame_.leave(); }

private:
    frame_owner frame_;
    std::coroutine_handle<> continuation_ = std::noop_coroutine();
    executor* executor_ = nullptr;
    std::exception_ptr exception_;
};

template <typename Result>
class promise final : public promise_base {
public:
    [[nodiscard]] routine<Result> get_return_object() noexcept;
    template <typename Value>
        requires std::is_constructible_v<Result, Value>
    void return_value(Value&& value) {
        result_.emplace(std::forward<Value>(value));
        leave_frame();
    }
    [[nodiscard]] Result take() {
        rethrow();
        return std::move(*result_);
    }

private:
    std::optional<Result> result_;
};

template <>
class promise<void> final : public promise_base {
public:
    [[nodiscard]] inline routine<void> get_return_object() noexcept;
    void return_void() noexcept { leave_frame(); }
    void take() const { rethrow(); }
};

} // namespace frontend
/// @endcond

/// A coroutine that may co_await tasks, events, all(), perform() and other routines. It has not
/// begun when the call returns; a routine that is never awaited never runs.
template <typename Result = void>
class [[nodiscard]] routine {
public:
    /// Required by the compiler.
    using promise_type = frontend::promise<Result>;

    routine(const routine&) = delete;
    routine& operator=(const routine&) = delete;
    /// @param other  is empty afterwards.
    routine(routine&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
    /// @param other  is empty afterwards.
    /// @return this routine; the previous routine must have ended, or not have begun.
    routine& operator=(routine&& other) noexcept {
        routine taken{std::move(other)};
        std::swap(coroutine_, taken.coroutine_);
        return *this;
    }
    /// Destroys the routine, which must have ended, or not have begun.
    ~routine() {
        if (coroutine_) coroutine_.destroy();
    }

    /// @cond
    class awaiter {
    public:
        explicit awaiter(std::coroutine_handle<promise_type> awaited) noexcept : awaited_(awaited) {}
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <typename Promise>
        [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) const noexcept {
            static_assert(frontend::knows_executor<Promise>,
                          "a routine is awaited by a routine, or given to a run_loop");
            awaited_.promise().begin(awaiting, awaiting.promise().resumes_on());
            return awaited_;
        }
        Result await_resume() const { return awaited_.promise().take(); }

    private:
        std::coroutine_handle<promise_type> awaited_;
    };
    [[nodiscard]] awaiter operator co_await() const noexcept { return awaiter{coroutine_}; }
    /// @endcond

private:
    friend promise_type;
    friend run_loop;
    explicit routine(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

    std::coroutine_handle<promise_type> coroutine_;
};

/// @cond
namespace frontend {

template <typename Result>
routine<Result> promise<Result>::get_return_object() noexcept {
    return routine<Result>{std::coroutine_handle<promise>::from_promise(*this)};
}
inline routine<void> promise<void>::get_return_object() noexcept {
    return routine<void>{std::coroutine_handle<promise>::from_promise(*this)};
}

} // namespace frontend
/// @endcond

} // namespace commtask
