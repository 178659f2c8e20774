// SPDX-License-Identifier: Apache-2.0
//
// The progress lock of a lane: the thread that has it may make progress. It is the worker, a thread that waits in the library, or an
// external caller: a thread that must call MPI itself. Callers come first; of the waiting threads one at a time polls in place of a
// reserved worker. Nothing here knows how progress is made.
#pragma once

#include "base/system.hpp"
#include "base/tuning.hpp"

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace commtask::detail {

class progress_lock {
public:
    /// @return false if somebody has it, or it is abandoned
    [[nodiscard]] bool try_take() noexcept {
        std::uintptr_t holder = nobody;
        // acquire: partner of the release in give_back(); what its last holder did is visible.
        const bool has_it =
            holder_.load(std::memory_order_acquire) == nobody &&
            !is_abandoned() && // in this order: who gives it back then saw it
            holder_.compare_exchange_strong(holder, me(), std::memory_order_acquire, std::memory_order_relaxed);
        if (has_it) ++n_held_by_me();
        return has_it;
    }
    /// Who has it.
    void give_back() noexcept {
        --n_held_by_me();
        holder_.store(nobody, std::memory_order_release);
    }

    /// Nobody takes it or waits for it any longer, also if who has it gives it back. For good.
    /// release: partner of the acquire in is_abandoned().
    void abandon() noexcept { is_abandoned_.store(true, std::memory_order_release); }
    [[nodiscard]] bool is_abandoned() const noexcept { return is_abandoned_.load(std::memory_order_acquire); }
    /// Any thread, of one that is abandoned. @return false as long as somebody has it; else nobody takes it any more
    [[nodiscard]] bool try_close() noexcept {
        std::uintptr_t holder = nobody;
        // acquire: partner of the release in give_back(); who had it does nothing more.
        return holder_.compare_exchange_strong(holder, closed, std::memory_order_acquire) || holder == closed;
    }

    /// Whether somebody has the progress lock.
    [[nodiscard]] bool approx_is_taken() const noexcept {
        const std::uintptr_t holder = holder_.load(std::memory_order_relaxed);
        return holder != nobody && holder != closed;
    }

    /// Whether the calling thread has the progress lock: inside a pass, or, under the interposer, inside a call of MPI. Nobody else can
    /// drive then, so one that waits all the same drives itself, or is refused where in_progress_call().
    [[nodiscard]] bool is_mine() const noexcept {
        // Its own variable first: the other is in a line that the worker writes, and every wait asks.
        return n_held_by_me() > 0 && holder_.load(std::memory_order_relaxed) == me();
    }

    /// A thread that must call MPI itself, as the interposer's do, takes the progress lock; whoever drives gives it up soon. Not
    /// on a driver. Undone by give_back(). @return false if it is abandoned
    bool take_first() noexcept { return try_take_first(UINT64_MAX); }

    /// The same, for one who can do without. @return false if `deadline_ns` of now_ns() came first, or it is abandoned
    [[nodiscard]] bool try_take_first(std::uint64_t deadline_ns) noexcept {
        if (try_take()) return true;
        n_callers_.fetch_add(1, std::memory_order_relaxed);
        bool has_it = false;
        for (unsigned i = 1; !has_it; ++i) {
            pause_briefly();
            if (i % tuning::steps_in_a_row == 0) {
                if (is_abandoned() || now_ns() >= deadline_ns) break;
                sched_yield();
            }
            has_it = try_take();
        }
        n_callers_.fetch_sub(1, std::memory_order_relaxed);
        return has_it;
    }
    [[nodiscard]] bool has_callers() const noexcept { return n_callers_.load(std::memory_order_relaxed) > 0; }

    /// One waiting thread at a time drives in place of a reserved worker. Undone by end_claim().
    [[nodiscard]] bool try_claim_progress() noexcept {
        return !waiter_makes_progress_.load(std::memory_order_relaxed) &&
               !waiter_makes_progress_.exchange(true, std::memory_order_relaxed);
    }
    void end_claim() noexcept { waiter_makes_progress_.store(false, std::memory_order_relaxed); }
    [[nodiscard]] bool has_waiter_in_progress() const noexcept {
        return waiter_makes_progress_.load(std::memory_order_relaxed);
    }

    /// A thread is inside a blocking MPI call of its own, with MPI_THREAD_MULTIPLE and without the progress lock: drivers must
    /// leave MPI's lock to it now and then.
    void add_blocked_outside(int by) noexcept { n_blocked_outside_.fetch_add(by, std::memory_order_relaxed); }
    [[nodiscard]] bool has_blocked_outside() const noexcept {
        return n_blocked_outside_.load(std::memory_order_relaxed) > 0;
    }

private:
    static constexpr std::uintptr_t nobody = 0;
    static constexpr std::uintptr_t closed = 1; ///< The address of no variable.

    /// Progress locks that the calling thread has.
    [[nodiscard]] static int& n_held_by_me() noexcept {
        static thread_local constinit int n_held = 0;
        return n_held;
    }
    /// The address of a thread's own variable.
    [[nodiscard]] static std::uintptr_t me() noexcept { return reinterpret_cast<std::uintptr_t>(&n_held_by_me()); }

    alignas(cache_line_bytes) std::atomic<std::uintptr_t> holder_{nobody};
    std::atomic<bool> is_abandoned_{false};
    // Written by threads that do not drive, and seldom; looked at often, which must not take the line above from the worker.
    alignas(cache_line_bytes) std::atomic<int> n_callers_{
        0}; ///< Who wait for the progress lock to call MPI themselves.
    std::atomic<int> n_blocked_outside_{0};
    std::atomic<bool> waiter_makes_progress_{false};
};

} // namespace commtask::detail
