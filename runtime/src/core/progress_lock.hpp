// SPDX-License-Identifier: Apache-2.0
//
// The progress lock of a lane: the thread that has it may make progress. The holder can be the
// worker, a waiting thread, a submitter, or an external caller, which must call MPI itself.
// External callers have priority. With a reserved worker, one waiting thread at a time may take its
// role.
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
    [[nodiscard]] bool try_acquire() noexcept {
        std::uintptr_t holder = nobody;
        // acquire: partner of the release in release(); what the last holder wrote is visible.
        // The loads are in this order since the last holder may have abandoned the lock before it
        // gave the lock back.
        const bool has_it =
            holder_.load(std::memory_order_acquire) == nobody && !is_abandoned() &&
            holder_.compare_exchange_strong(holder, me(), std::memory_order_acquire, std::memory_order_relaxed);
        if (has_it) ++n_mine();
        return has_it;
    }
    /// Called by the holder.
    void release() noexcept {
        --n_mine();
        holder_.store(nobody, std::memory_order_release);
    }

    /// Permanently prevents all threads from taking the lock, even after the holder gives it back,
    /// and ends their waits for it. release: partner of the acquire in is_abandoned().
    void abandon() noexcept { is_abandoned_.store(true, std::memory_order_release); }
    [[nodiscard]] bool is_abandoned() const noexcept { return is_abandoned_.load(std::memory_order_acquire); }
    /// Any thread, after abandon().
    /// @return false while a thread has the lock; true once no thread can take it any more
    [[nodiscard]] bool try_close() noexcept {
        std::uintptr_t holder = nobody;
        // acquire: partner of the release in release(); the last holder's accesses are over.
        return holder_.compare_exchange_strong(holder, closed, std::memory_order_acquire) || holder == closed;
    }

    /// Approximate: whether a thread has the lock.
    [[nodiscard]] bool approx_is_taken() const noexcept {
        const std::uintptr_t holder = holder_.load(std::memory_order_relaxed);
        return holder != nobody && holder != closed;
    }

    /// Whether the calling thread has the lock: in a progress call or, with the interposer, in a
    /// call of MPI. Then no other thread can make progress. So if the calling thread waits, it
    /// makes progress itself; in a progress call the wait is refused.
    [[nodiscard]] bool is_mine() const noexcept {
        // Reads the thread-local variable first: every wait calls this function, and the worker
        // writes the line of holder_.
        return n_mine() > 0 && holder_.load(std::memory_order_relaxed) == me();
    }

    /// Takes the lock for an external caller, with priority: the progress thread soon gives it up.
    /// Not in a progress call. Undone by release().
    /// @return false if the lock is abandoned
    bool acquire_first() noexcept { return try_acquire_first(UINT64_MAX); }

    /// As acquire_first(), with a deadline.
    /// @return false if the time `deadline_ns` of now_ns() has passed, or the lock is abandoned
    [[nodiscard]] bool try_acquire_first(std::uint64_t deadline_ns) noexcept {
        if (try_acquire()) return true;
        n_callers_.fetch_add(1, std::memory_order_relaxed);
        bool has_it = false;
        for (unsigned i = 1; !has_it; ++i) {
            pause_briefly();
            if (i % tuning::steps_in_a_row == 0) {
                if (is_abandoned() || now_ns() >= deadline_ns) break;
                sched_yield();
            }
            has_it = try_acquire();
        }
        n_callers_.fetch_sub(1, std::memory_order_relaxed);
        return has_it;
    }
    [[nodiscard]] bool has_callers() const noexcept { return n_callers_.load(std::memory_order_relaxed) > 0; }

    /// Lets one waiting thread at a time make progress in place of a reserved worker. Undone by
    /// end_claim().
    [[nodiscard]] bool try_claim_progress() noexcept {
        return !waiter_makes_progress_.load(std::memory_order_relaxed) &&
               !waiter_makes_progress_.exchange(true, std::memory_order_relaxed);
    }
    void end_claim() noexcept { waiter_makes_progress_.store(false, std::memory_order_relaxed); }
    [[nodiscard]] bool has_waiter_in_progress() const noexcept {
        return waiter_makes_progress_.load(std::memory_order_relaxed);
    }

    /// Counts threads that are in a blocking MPI call of the program, under MPI_THREAD_MULTIPLE and
    /// without the progress lock. Progress threads must sometimes leave MPI's internal lock to
    /// them.
    void add_blocked_outside(int by) noexcept { n_blocked_outside_.fetch_add(by, std::memory_order_relaxed); }
    [[nodiscard]] bool has_blocked_outside() const noexcept {
        return n_blocked_outside_.load(std::memory_order_relaxed) > 0;
    }

private:
    static constexpr std::uintptr_t nobody = 0;
    static constexpr std::uintptr_t closed = 1; ///< Not the address of any variable.

    /// The number of progress locks that the calling thread has.
    [[nodiscard]] static int& n_mine() noexcept {
        static thread_local constinit int count = 0;
        return count;
    }
    /// Identifies the calling thread: the address of its thread-local variable.
    [[nodiscard]] static std::uintptr_t me() noexcept { return reinterpret_cast<std::uintptr_t>(&n_mine()); }

    alignas(cache_line_bytes) std::atomic<std::uintptr_t> holder_{nobody};
    std::atomic<bool> is_abandoned_{false};
    // Rarely written, often read. In another line than holder_, so that reads do not take the
    // worker's line.
    /// The external callers that wait for the lock.
    alignas(cache_line_bytes) std::atomic<int> n_callers_{0};
    std::atomic<int> n_blocked_outside_{0};
    std::atomic<bool> waiter_makes_progress_{false};
};

} // namespace commtask::detail
