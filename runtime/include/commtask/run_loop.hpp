// SPDX-License-Identifier: Apache-2.0
//
// An executor on a thread of the program: the thread that calls run() resumes routines that are
// ready, and blocks while there are none. The worker adds routines without a lock, so a busy or
// preempted loop never delays the worker. One thread at a time runs a loop; each thread may have a
// loop of its own.
#pragma once

#include <commtask/routine.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace commtask {

/// Routines, and the thread that runs them. Call run() before the loop is destroyed: routines that
/// are still suspended are never resumed.
class run_loop final : public executor {
public:
    run_loop() noexcept = default;
    run_loop(const run_loop&) = delete;
    run_loop& operator=(const run_loop&) = delete;
    /// Cancels the tasks that suspended routines wait for, and waits for them. Then it destroys the
    /// variables of the routines and joins their tasks, from the last routine that was started to
    /// the first.
    ~run_loop() {
        if (first_suspended_ != nullptr) end_suspended();
        // The thread that woke the last routine may still be inside resume_later().
        // acquire: partner of the release in resume_later().
        while (n_adding_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    }

    /// Starts a routine: it runs at once, on the calling thread, until its first co_await. The
    /// calling thread is the thread of the loop.
    /// @param started  belongs to the loop from now on.
    void start(routine<void> started) {
        is_here();
        ++n_unfinished_;
        launch(*this, std::move(started));
    }

    /// Runs until every routine that was started has ended.
    /// @throws anything  the first exception of a routine, after all have ended.
    void run() {
        while (n_unfinished_ > 0) {
            if (!run_ready()) wait_for_arrival();
        }
        if (exception_) std::rethrow_exception(std::exchange(exception_, {}));
    }

    /// Runs one routine, and the routines that were started, until all have ended.
    /// @param main  the routine.
    /// @return its result.
    /// @throws anything  an exception of a routine.
    template <typename Result>
    Result run(routine<Result> main) {
        is_here();
        main.coroutine_.promise().begin(std::noop_coroutine(), this);
        main.coroutine_.resume();
        while (!main.coroutine_.done()) {
            if (!run_ready()) wait_for_arrival();
        }
        run();
        return main.coroutine_.promise().take();
    }

    /// Resumes the routines that are ready, without waiting: for a thread with other work.
    /// @return whether a routine was resumed.
    bool run_ready() {
        is_here();
        resumption* ready = take_all();
        const bool found = ready != nullptr;
        while (ready != nullptr) {
            resumption* const next = ready->next; // resume() may end the frame that holds `ready`
            forget_suspended(*ready);
            ready->resume();
            ready = next;
        }
        return found;
    }

    /// Returns the number of routines that were started and have not ended. Only for the thread of
    /// the loop.
    /// @return the number.
    [[nodiscard]] std::size_t unfinished() const noexcept { return n_unfinished_; }

    /// Adds a coroutine that is ready. Any thread may call it; usually the worker does.
    /// @param ready  will be resumed by the thread of the loop.
    void resume_later(resumption& ready) noexcept override {
        n_adding_.fetch_add(1, std::memory_order_relaxed);
        resumption* top = top_.load(std::memory_order_relaxed);
        do {
            ready.next = top;
            // release: partner of the acquire in take_all(); the coroutine sees what its task did.
        } while (!top_.compare_exchange_weak(top, &ready, std::memory_order_release, std::memory_order_relaxed));
        if (top == nullptr) top_.notify_one();
        // release: partner of the acquire in the destructor; the loop is not touched afterwards.
        n_adding_.fetch_sub(1, std::memory_order_release);
    }

    /// @cond
    [[nodiscard]] commtask_t* note_suspended(resumption& suspended) noexcept override {
        // relaxed: only this thread stores its own id.
        if (thread_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return nullptr;
        suspended.is_noted_ = true;
        suspended.previous_suspended_ = nullptr;
        suspended.next_suspended_ = first_suspended_;
        if (first_suspended_ != nullptr) first_suspended_->previous_suspended_ = &suspended;
        first_suspended_ = &suspended;
        ++n_suspended_;
        return &suspended.awaited_;
    }
    void forget_suspended(resumption& suspended) noexcept override {
        if (!std::exchange(suspended.is_noted_, false)) return;
        resumption* const next = suspended.next_suspended_;
        resumption* const previous = suspended.previous_suspended_;
        (previous != nullptr ? previous->next_suspended_ : first_suspended_) = next;
        if (next != nullptr) next->previous_suspended_ = previous;
        --n_suspended_;
        static_cast<void>(commtask_release(&suspended.awaited_));
    }
    /// @endcond

private:
    struct launched_promise;

    void is_here() noexcept { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

    /// Ends the wait of suspended routines, which will not be resumed.
    void end_suspended() noexcept {
        for (resumption* each = first_suspended_; each != nullptr; each = each->next_suspended_) {
            if (each->awaited_ != COMMTASK_NULL) static_cast<void>(commtask_cancel(each->awaited_));
        }
        const std::size_t n_elsewhere = n_unfinished_ - n_suspended_;
        while (first_suspended_ != nullptr) {
            resumption* ready = take_all();
            if (ready == nullptr) wait_for_arrival();
            for (; ready != nullptr; ready = ready->next) forget_suspended(*ready);
        }
        if (n_elsewhere > 0) {
            commtask_print(
                "a run_loop ends while routines of it wait for something else than tasks: what they hold is lost");
            return;
        }
        frontend::owner ending;
        ending.leave();
        const frontend::in_owner handles_are_joined{&ending};
        while (last_launched_ != nullptr) destroy_last();
    }
    inline void destroy_last() noexcept;

    /// Takes the coroutines that are ready, in the order of arrival.
    [[nodiscard]] resumption* take_all() noexcept {
        // acquire: partner of the release in resume_later().
        resumption* top = top_.exchange(nullptr, std::memory_order_acquire);
        resumption* first = nullptr;
        while (top != nullptr) {
            resumption* const below = top->next;
            top->next = first;
            first = top;
            top = below;
        }
        return first;
    }

    void wait_for_arrival() const noexcept { top_.wait(nullptr, std::memory_order_relaxed); }

    /// The coroutine around a routine that was started. It owns the routine and destroys itself.
    struct launched {
        using promise_type = launched_promise;
    };
    struct launched_promise {
        launched_promise(run_loop& where, routine<void>& /*started*/) noexcept
            : loop(&where), previous(std::exchange(where.last_launched_, this)) {
            if (previous != nullptr) previous->next = this;
        }
        launched_promise(const launched_promise&) = delete;
        launched_promise& operator=(const launched_promise&) = delete;
        ~launched_promise() {
            (next != nullptr ? next->previous : loop->last_launched_) = previous;
            if (previous != nullptr) previous->next = next;
            --loop->n_unfinished_;
        }
        [[nodiscard]] launched get_return_object() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {
            if (!loop->exception_) loop->exception_ = std::current_exception();
        }
        [[nodiscard]] executor* resumes_on() const noexcept { return loop; }
        run_loop* loop;
        launched_promise* previous;
        launched_promise* next = nullptr;
    };
    static launched launch(run_loop& /*where*/, routine<void> started) { co_await started; }

    // Only for the thread of the loop:
    std::size_t n_unfinished_ = 0;
    std::exception_ptr exception_;
    resumption* first_suspended_ = nullptr;
    std::size_t n_suspended_ = 0;
    launched_promise* last_launched_ = nullptr;

    std::atomic<std::thread::id> thread_{}; ///< The thread that runs the loop, or did last.
    std::atomic<resumption*> top_{nullptr};
    std::atomic<std::size_t> n_adding_{0};
};

inline void run_loop::destroy_last() noexcept {
    std::coroutine_handle<launched_promise>::from_promise(*last_launched_).destroy();
}

} // namespace commtask
