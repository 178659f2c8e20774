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

/// Routines, and the thread that they run on. Call run() before it goes: routines that are suspended then are not resumed any more.
class run_loop final : public executor {
public:
    run_loop() noexcept = default;
    run_loop(const run_loop&) = delete;
    run_loop& operator=(const run_loop&) = delete;
    /// What suspended routines wait for is canceled and waited for; then their variables are destroyed, and their tasks joined, from the
    /// last routine that was started to the first.
    ~run_loop() {
        if (first_suspended_ != nullptr) end_suspended();
        // Whoever woke the last routine may still be on its way out of resume_later(): a matter of nanoseconds.
        // acquire: partner of the release there.
        while (n_adding_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    }

    /// Lets a routine begin; it runs until its first co_await at once, on the calling thread, which is the loop's.
    /// @param started  belongs to the loop from now on.
    void start(routine<void> started) {
        is_here();
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
        is_here();
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
        is_here();
        resumption* ready = take_all();
        const bool found = ready != nullptr;
        while (ready != nullptr) {
            resumption* const next = ready->next; // the frame that holds it may end
            forget_suspended(*ready);
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

    /// @cond
    [[nodiscard]] commtask_t* note_suspended(resumption& suspended) noexcept override {
        // relaxed: it is this thread's own or another one's.
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

    /// Routines wait, and nobody will resume them.
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
            commtask_say(
                "a run_loop ends while routines of it wait for something else than tasks: what they hold is lost");
            return;
        }
        frontend::owner ending;
        ending.leave();
        const frontend::in_owner handles_are_joined{&ending};
        while (last_launched_ != nullptr) destroy_last();
    }
    inline void destroy_last() noexcept;

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

    // Of the loop's thread:
    std::size_t n_unfinished_ = 0;
    std::exception_ptr exception_;
    resumption* first_suspended_ = nullptr;
    std::size_t n_suspended_ = 0;
    launched_promise* last_launched_ = nullptr;

    std::atomic<std::thread::id> thread_{}; ///< That runs it now, or has last.
    std::atomic<resumption*> top_{nullptr};
    std::atomic<std::size_t> n_adding_{0};
};

inline void run_loop::destroy_last() noexcept {
    std::coroutine_handle<launched_promise>::from_promise(*last_launched_).destroy();
}

} // namespace commtask
