// SPDX-License-Identifier: Apache-2.0
//
// An executor that is a thread of yours: whoever calls run() resumes the routines that can go on, and sleeps while none
// can. The worker adds to it without a lock, so a loop that is busy or preempted never holds the worker up. One thread
// runs a loop at a time; a program with several threads gives each its own.
#pragma once

#include <commtask/routine.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace commtask {

/// Routines, and the thread that they run on. It must outlive its routines: call run() before it goes.
class run_loop final : public executor {
public:
    run_loop() noexcept = default;
    run_loop(const run_loop&) = delete;
    run_loop& operator=(const run_loop&) = delete;
    /// No routine of it may be suspended any more.
    ~run_loop() {
        // Whoever woke the last routine may still be on its way out of resume_later(): a matter of nanoseconds.
        // acquire: partner of the release there.
        while (n_adding_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    }

    /// Lets a routine begin; it runs until its first co_await at once, on the calling thread, which is the loop's.
    /// @param started  belongs to the loop from now on.
    void start(routine<void> started) {
        ++n_unfinished_;
        launch(*this, std::move(started));
    }

    /// Runs until every routine that was started has ended.
    /// @throws anything  that left a routine first, after all have ended.
    void run() {
        while (n_unfinished_ > 0) {
            if (!run_ready()) wait_for_arrival();
        }
        if (exception_) std::rethrow_exception(std::exchange(exception_, {}));
    }

    /// Runs one routine, and those that were started, until all have ended.
    /// @param main  the routine.
    /// @return its result.
    /// @throws anything  that left a routine.
    template <typename Result>
    Result run(routine<Result> main) {
        main.coroutine_.promise().begin(std::noop_coroutine(), this);
        main.coroutine_.resume();
        while (!main.coroutine_.done()) {
            if (!run_ready()) wait_for_arrival();
        }
        run();
        return main.coroutine_.promise().take();
    }

    /// Resumes what can go on, without waiting: for a thread that has other work too.
    /// @return whether anything was resumed.
    bool run_ready() {
        resumption* ready = take_all();
        const bool found = ready != nullptr;
        while (ready != nullptr) {
            resumption* const next = ready->next; // the frame that holds it may end
            ready->resume();
            ready = next;
        }
        return found;
    }

    /// How many routines were started and have not ended.
    /// @return the number; the loop's thread only.
    [[nodiscard]] std::size_t unfinished() const noexcept { return n_unfinished_; }

    /// Any thread; the worker above all.
    /// @param ready  to be resumed by the loop's thread.
    void resume_later(resumption& ready) noexcept override {
        n_adding_.fetch_add(1, std::memory_order_relaxed);
        resumption* top = top_.load(std::memory_order_relaxed);
        do {
            ready.next = top;
            // release: partner of the acquire in take_all(); the coroutine sees what its task did.
        } while (!top_.compare_exchange_weak(top, &ready, std::memory_order_release, std::memory_order_relaxed));
        if (top == nullptr) top_.notify_one();
        // release: partner of the acquire in the destructor; nothing of the loop is touched after this.
        n_adding_.fetch_sub(1, std::memory_order_release);
    }

private:
    /// What arrived, the first first.
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

    /// The coroutine around a routine that was started; it owns the routine and destroys itself.
    struct launched {
        struct promise_type {
            promise_type(run_loop& where, routine<void>& /*started*/) noexcept : loop(&where) {}
            [[nodiscard]] launched get_return_object() const noexcept { return {}; }
            [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
            [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
            void return_void() const noexcept { --loop->n_unfinished_; }
            void unhandled_exception() const noexcept {
                if (!loop->exception_) loop->exception_ = std::current_exception();
                --loop->n_unfinished_;
            }
            [[nodiscard]] executor* resumes_on() const noexcept { return loop; }
            run_loop* loop;
        };
    };
    static launched launch(run_loop& /*where*/, routine<void> started) { co_await started; }

    std::size_t n_unfinished_ = 0; ///< Of the loop's thread, as is the exception.
    std::exception_ptr exception_;
    std::atomic<resumption*> top_{nullptr};
    std::atomic<std::size_t> n_adding_{0};
};

} // namespace commtask
