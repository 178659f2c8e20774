// SPDX-License-Identifier: Apache-2.0
//
// Who may drive a lane. One thread at a time holds the baton: the worker, a thread that waits in the library, or a guest,
// which must call MPI itself. Guests go first; of the waiting threads one at a time drives in place of a reserved worker.
// Nothing here knows what driving is.
#pragma once

#include "system.hpp"

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace commtask::detail {

class baton {
public:
    [[nodiscard]] bool try_take_baton() noexcept {
        // acquire: partner of the release in return_baton(); what the last driver did is visible.
        return !is_held_.load(std::memory_order_relaxed) && !is_held_.exchange(true, std::memory_order_acquire);
    }
    void return_baton() noexcept { is_held_.store(false, std::memory_order_release); }

    /// A thread that must call MPI itself, as the interposer's do, takes the baton; whoever drives gives it up soon. Not
    /// on a driver. Undone by return_baton().
    void take_baton_as_guest() noexcept { static_cast<void>(try_take_baton_as_guest(UINT64_MAX)); }

    /// The same, for one who can do without. @return false if `deadline_ns` of now_ns() came first
    [[nodiscard]] bool try_take_baton_as_guest(std::uint64_t deadline_ns) noexcept {
        if (try_take_baton()) return true;
        constexpr int looks_before_yield = 64;
        n_guests_.fetch_add(1, std::memory_order_relaxed);
        bool has_it = false;
        for (int i = 1; !has_it; ++i) {
            pause_briefly();
            if (i % looks_before_yield == 0) {
                if (now_ns() >= deadline_ns) break;
                sched_yield();
            }
            has_it = try_take_baton();
        }
        n_guests_.fetch_sub(1, std::memory_order_relaxed);
        return has_it;
    }
    [[nodiscard]] bool has_guests() const noexcept { return n_guests_.load(std::memory_order_relaxed) > 0; }

    /// One waiting thread at a time drives in place of a reserved worker. Undone by end_driving().
    [[nodiscard]] bool try_claim_driving() noexcept {
        return !waiter_drives_.load(std::memory_order_relaxed) &&
               !waiter_drives_.exchange(true, std::memory_order_relaxed);
    }
    void end_driving() noexcept { waiter_drives_.store(false, std::memory_order_relaxed); }
    [[nodiscard]] bool has_driving_waiter() const noexcept { return waiter_drives_.load(std::memory_order_relaxed); }

    /// A thread is inside a blocking MPI call of its own, with MPI_THREAD_MULTIPLE and without the baton: drivers must
    /// leave MPI's lock to it now and then.
    void add_blocked_outside(int by) noexcept { n_blocked_outside_.fetch_add(by, std::memory_order_relaxed); }
    [[nodiscard]] bool has_blocked_outside() const noexcept {
        return n_blocked_outside_.load(std::memory_order_relaxed) > 0;
    }

private:
    alignas(cache_line_bytes) std::atomic<bool> is_held_{false};
    std::atomic<int> n_guests_{0}; ///< Threads that wait for the baton to call MPI themselves.
    std::atomic<int> n_blocked_outside_{0};
    std::atomic<bool> waiter_drives_{false};
};

} // namespace commtask::detail
