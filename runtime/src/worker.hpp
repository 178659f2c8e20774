// SPDX-License-Identifier: Apache-2.0
//
// The thread of a lane and its idle policy. A reserved worker keeps the baton and spins on its own core until it has had
// nothing to do for a while; then it sleeps until somebody rings. A worker that shares its core gives the baton back after
// every pass, so that a thread which waits in the library can drive the lane itself; it yields, then naps.
#pragma once

#include "lane.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include <sched.h>

namespace commtask::detail {

struct worker_settings {
    bool is_reserved = false;
    std::uint64_t spin_ns = 0;    ///< How long a reserved worker without work spins before it sleeps.
    std::uint64_t nap_max_ns = 1; ///< The longest pause of a shared worker with work in flight that nobody else drives.
    bool keeps_stats = false;
    std::function<void()> on_start; ///< Runs first, on the worker's thread: binds it.
};

class worker {
public:
    /// @throws std::system_error if the system gives no thread.
    worker(lane& served, worker_settings settings);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() { stop(); }

    /// Ends the thread after its pass. Tasks that are left stay where they are.
    void stop() noexcept;

    /// Whether the calling thread is the worker's.
    [[nodiscard]] bool is_me() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }

    [[nodiscard]] bool is_reserved() const noexcept { return settings_.is_reserved; }

private:
    void run() noexcept;
    void run_reserved() noexcept;
    void run_shared() noexcept;
    bool timed_pass() noexcept;
    [[nodiscard]] bool spin_until_work() noexcept;
    void take_baton() noexcept;
    void let_guests_in() noexcept;
    void make_way() noexcept;
    [[nodiscard]] bool may_linger() noexcept;
    void yield_and_learn() noexcept;
    void leave_core(std::uint64_t now) noexcept;
    [[nodiscard]] bool has_reason_to_wake() const noexcept {
        return lane_.has_arrivals() || must_stop_.load(std::memory_order_seq_cst);
    }

    lane& lane_;
    const worker_settings settings_;
    std::atomic<bool> must_stop_{false};
    // Of a shared worker: what its yields say about its core.
    bool is_core_idle_ = false; ///< They come back at once.
    std::uint64_t core_is_idle_since_ns_ = 0;
    std::uint64_t core_is_others_until_ns_ = 0;
    std::uint64_t distrust_ns_ = 0;
    std::uint64_t nothing_since_ns_ = 0; ///< When it began to find nothing; 0: not yet.
    std::thread thread_;
};

/// How threads wait for tasks of a lane.
struct waiting_policy {
    bool worker_is_reserved = false;
    std::uint64_t spin_ns = 0; ///< Before the waiting thread sleeps.
    /// A thread that must wait for more than a moment drives the lane itself, though the worker has its own core: what it
    /// waits for is then copied on the core that uses it.
    bool takes_over = false;
};

/// What driving a lane for a moment came to.
enum class drive_result : std::uint8_t {
    refused, ///< Another thread has the baton.
    idle,    ///< Nothing moved.
    moved,   ///< Something was started or ended.
};

/// Drives the lane for `most_passes`, or until `is_done()`, if nobody else does; with the baton in hand in any case. Not from a
/// callback. Who has driven and turns to something else calls leave_to_worker().
/// @param is_done  bool(bool moved): asked before every pass.
template <typename IsDone>
drive_result drive_for_a_moment(lane& driven, int most_passes, IsDone&& is_done) {
    const bool has_baton = driven.is_held_by_me();
    if (!has_baton && (driven.has_guests() || !driven.try_take_baton())) return drive_result::refused;
    bool moved = false;
    for (int i = 0; i < most_passes && !is_done(moved) && (has_baton || !driven.has_guests()); ++i) {
        moved = driven.progress() || moved;
    }
    if (!has_baton) driven.return_baton();
    return moved ? drive_result::moved : drive_result::idle;
}

/// Who has driven and turns to something else hands what is left to the worker.
inline void leave_to_worker(lane& driven) noexcept {
    if (driven.approx_has_work()) driven.wake_up.ring_if_deep();
}

/// Drives the lane instead of its reserved worker, until `is_done()`, until others want to drive, until nothing has moved for
/// `patience_ns`, or until about `deadline_ns` of now_ns(). One thread at a time; the others look on. Not from a callback.
/// @return whether anything moved
template <typename IsDone>
bool drive_instead(lane& driven, std::uint64_t patience_ns, std::uint64_t deadline_ns, IsDone&& is_done) {
    constexpr unsigned passes_between_clocks = 64;
    // Who is blocked in MPI needs pauses, which the worker makes.
    const auto must_leave = [&] { return driven.has_guests() || driven.has_blocked_outside(); };
    if (must_leave() || !driven.try_claim_driving()) return false;
    bool has_moved = false;
    if (driven.try_take_baton_as_guest(std::min(deadline_ns, now_ns() + patience_ns))) {
        std::uint64_t still_since_ns = 0; // the clock is read only for pauses that last
        for (unsigned i = 1; !is_done() && !must_leave(); ++i) {
            if (driven.progress()) {
                has_moved = true;
                still_since_ns = 0;
            }
            if (i % passes_between_clocks != 0) continue;
            const std::uint64_t now = now_ns();
            if (still_since_ns == 0) still_since_ns = now;
            if (now - still_since_ns >= patience_ns || now >= deadline_ns) break;
        }
        driven.return_baton();
        leave_to_worker(driven);
    }
    driven.end_driving();
    return has_moved;
}

/// Waits until `is_done()`. Where the worker shares its core, or the thread has the baton in hand, the waiting thread drives the
/// lane itself; elsewhere if policy.takes_over, as long as the wait is young or something moves.
/// @param timeout_ns negative: for ever.
/// @return whether `is_done()`.
template <typename IsDone>
bool wait_in_library(lane& awaited, const waiting_policy& policy, std::int64_t timeout_ns, IsDone&& is_done) {
    constexpr int looks_before_clock = 256;
    constexpr int looks_between_clocks = 64;
    constexpr std::uint64_t longest_sleep_ns = 10'000'000;
    if (is_done()) return true;
    if (timeout_ns == 0) return false;
    const bool has_baton = awaited.is_held_by_me(); // then sleep would be for ever
    if (policy.worker_is_reserved && !has_baton) {
        // Most waits are short: the clock is not read for them.
        for (int i = 0; i < looks_before_clock; ++i) {
            if (is_done()) return true;
        }
    }
    const std::uint64_t begin_ns = now_ns();
    const std::uint64_t deadline_ns = timeout_ns < 0 ? UINT64_MAX : begin_ns + static_cast<std::uint64_t>(timeout_ns);
    const std::uint64_t young_until_ns = begin_ns + policy.spin_ns;
    std::uint64_t now = begin_ns;
    bool has_driven = false;
    bool has_moved = false;
    const auto leave = [&](bool result) {
        if (has_driven) leave_to_worker(awaited);
        return result;
    };
    for (;;) {
        bool drove = false;
        if (policy.worker_is_reserved && !has_baton) {
            for (int i = 0; i < looks_between_clocks && !is_done(); ++i) pause_briefly();
            if (policy.takes_over && (has_moved || now < young_until_ns) && !is_done()) {
                has_moved = drive_instead(awaited, policy.spin_ns, deadline_ns, is_done);
            }
        } else {
            const drive_result result =
                drive_for_a_moment(awaited, looks_between_clocks, [&](bool) { return is_done(); });
            drove = result != drive_result::refused;
            has_driven = has_driven || drove;
            if (result != drive_result::moved) sched_yield();
        }
        if (is_done()) return leave(true);
        now = now_ns();
        if (now >= deadline_ns) return leave(false);
        // Who drives stays awake as long as MPI has something in flight: nobody else is as quick.
        if (has_baton || now < young_until_ns || has_moved || (drove && awaited.approx_has_work())) continue;
        const auto left_ns = static_cast<std::int64_t>(std::min(longest_sleep_ns, deadline_ns - now));
        awaited.waiters.wait(left_ns, is_done);
    }
}

} // namespace commtask::detail
