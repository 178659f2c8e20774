// SPDX-License-Identifier: Apache-2.0
//
// The progress lock of a lane: the thread that has it may make progress. That thread is the worker,
// a thread that waits in the library, a submitter, or an external caller: a thread that must call
// MPI itself. External callers have priority. Beside a reserved worker, one waiting thread at a
// time polls in its place. The lock does not know how progress is made.
#pragma once

#include "base/system.hpp"
#include "base/tuning.hpp"

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace commtask::detail {

class progress_lock {
public:
    /// @return false if a thread has the lock, or the lock is abandoned
    [[nodiscard]] bool try_take() noexcept {
        std::uintptr_t holder = nobody;
        // acquire: partner of the release in give_back(); the effects of the last holder are
        // visible. In this order: if the last holder gave back an abandoned lock, this thread sees
        // that the lock is abandoned.
        const bool has_it =
            holder_.load(std::memory_order_acquire) == nobody && !is_abandoned() &&
            holder_.compare_exchange_strong(holder, me(), std::memory_order_acquire, std::memory_order_relaxed);
        if (has_it) ++n_mine();
        return has_it;
    }
    /// Only the holder.
    void give_back() noexcept {
        --n_mine();
        holder_.store(nobody, std::memory_order_release);
    }

    /// From here on, no thread takes the lock or waits for it, even if the holder gives it back.
    /// For good. release: partner of the acquire in is_abandoned().
    void abandon() noexcept { is_abandoned_.store(true, std::memory_order_release); }
    [[nodiscard]] bool is_abandoned() const noexcept { return is_abandoned_.load(std::memory_order_acquire); }
    /// Any thread, once the lock is abandoned.
    /// @return false while a thread has the lock; otherwise no thread takes it any more
    [[nodiscard]] bool try_close() noexcept {
        std::uintptr_t holder = nobody;
        // acquire: partner of the release in give_back(); the last holder does nothing more.
        return holder_.compare_exchange_strong(holder, closed, std::memory_order_acquire) || holder == closed;
    }

    /// Approximately: whether a thread has the progress lock.
    [[nodiscard]] bool approx_is_taken() const noexcept {
        const std::uintptr_t holder = holder_.load(std::memory_order_relaxed);
        return holder != nobody && holder != closed;
    }

    /// Whether the calling thread has the progress lock: inside a progress call or, with the
    /// interposer, inside a call of MPI. No other thread can make progress then. So a thread that
    /// waits all the same makes progress itself, or is refused if in_progress_call().
    [[nodiscard]] bool is_mine() const noexcept {
        // The thread's own variable comes first: the other variable is in a line that the worker
        // writes, and every wait asks.
        return n_mine() > 0 && holder_.load(std::memory_order_relaxed) == me();
    }

    /// An external caller takes the progress lock; the progress thread gives it up soon. Not in a
    /// progress call. Undone by give_back().
    /// @return false if the lock is abandoned
    bool take_first() noexcept { return try_take_first(UINT64_MAX); }

    /// As take_first(), for a thread that can do without the lock.
    /// @return false if the time `deadline_ns` of now_ns() came first, or the lock is abandoned
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

    /// One waiting thread at a time makes progress in place of a reserved worker. Undone by
    /// end_claim().
    [[nodiscard]] bool try_claim_progress() noexcept {
        return !waiter_makes_progress_.load(std::memory_order_relaxed) &&
               !waiter_makes_progress_.exchange(true, std::memory_order_relaxed);
    }
    void end_claim() noexcept { waiter_makes_progress_.store(false, std::memory_order_relaxed); }
    [[nodiscard]] bool has_waiter_in_progress() const noexcept {
        return waiter_makes_progress_.load(std::memory_order_relaxed);
    }

    /// Counts threads that are inside a blocking MPI call of their own, with MPI_THREAD_MULTIPLE
    /// and without the progress lock. Progress threads must leave MPI's lock to them now and then.
    void add_blocked_outside(int by) noexcept { n_blocked_outside_.fetch_add(by, std::memory_order_relaxed); }
    [[nodiscard]] bool has_blocked_outside() const noexcept {
        return n_blocked_outside_.load(std::memory_order_relaxed) > 0;
    }

private:
    static constexpr std::uintptr_t nobody = 0;
    static constexpr std::uintptr_t closed = 1; ///< No variable has this address.

    /// The number of progress locks that the calling thread has.
    [[nodiscard]] static int& n_mine() noexcept {
        static thread_local constinit int count = 0;
        return count;
    }
    /// The address of a thread's own variable.
    [[nodiscard]] static std::uintptr_t me() noexcept { return reinterpret_cast<std::uintptr_t>(&n_mine()); }

    alignas(cache_line_bytes) std::atomic<std::uintptr_t> holder_{nobody};
    std::atomic<bool> is_abandoned_{false};
    // Written seldom, by threads that do not make progress. Read often, which must not take the
    // line above from the worker.
    /// External callers that wait for the progress lock.
    alignas(cache_line_bytes) std::atomic<int> n_callers_{0};
    std::atomic<int> n_blocked_outside_{0};
    std::atomic<bool> waiter_makes_progress_{false};
};

} // namespace commtask::detail
