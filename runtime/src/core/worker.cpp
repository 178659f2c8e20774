// SPDX-License-Identifier: Apache-2.0
//
// The worker's two loops. The reserved worker reads the clock only when nothing moves or for
// statistics; the shared worker reads it in every turn. A paused worker of either kind polls
// incomplete tasks every 10 ms (tuning::longest_unwoken_wait_ns).
#include "core/worker.hpp"

#include "base/tuning.hpp"
#include "core/wait_limit.hpp"

#include <utility>

#include <sched.h>

namespace commtask::detail {

worker::worker(lane& served, worker_settings settings) : lane_(served), settings_(std::move(settings)) {
    thread_.start({.name = "commtask", .stack_bytes = settings_.stack_bytes}, [this] { run(); });
}

void worker::stop() noexcept {
    if (!thread_.joinable()) return;
    request_stop();
    thread_.join();
}

void worker::request_stop() noexcept {
    must_stop_.store(true, std::memory_order_seq_cst);
    lane_.wake_up.wake_unconditionally();
}

void worker::run() noexcept {
    if (lane_.activities() != nullptr) lane_.activities()->begin_worker(lane_.number());
    if (settings_.on_start) settings_.on_start();
    const std::uint64_t begin_ns = now_ns();
    const std::uint64_t begin_used_ns = processor_time_ns();
    if (settings_.is_reserved) {
        run_reserved();
    } else {
        run_shared();
    }
    lane_.engine.thread_does(activity::none);
    if (settings_.counters == nullptr) return;
    settings_.counters->worker_life_ns += now_ns() - begin_ns;
    settings_.counters->worker_used_ns += processor_time_ns() - begin_used_ns;
}

void worker::count_block() noexcept {
    if (settings_.counters != nullptr) ++settings_.counters->worker_sleeps;
}

bool worker::timed_progress() noexcept {
    const std::uint64_t begin_ns = settings_.counters == nullptr ? 0 : now_ns();
    const bool moved = lane_.engine.progress();
    if (!moved) return false;
    if (settings_.counters != nullptr) settings_.counters->worker_busy_ns += now_ns() - begin_ns;
    return true;
}

void worker::run_reserved() noexcept {
    if (!acquire_lock()) return;
    while (!must_stop_.load(std::memory_order_relaxed)) {
        if (lane_.engine.lock.has_callers() && !yield_lock()) return;
        if (lane_.is_paused()) [[unlikely]] {
            lane_.submitted.publish_free_cells();
            lane_.engine.lock.release();
            run_paused();
            if (!acquire_lock()) return;
        }
        if (timed_progress() || lane_.engine.has_work() || lane_.engine.must_serve_others()) continue;
        // Idle: releases the lock, so that a preempted worker does not delay external callers.
        lane_.submitted.publish_free_cells();
        lane_.engine.lock.release();
        record_idle();
        if (!spin_until_work()) {
            count_block();
            block();
        }
        if (!acquire_lock()) return;
    }
    lane_.engine.lock.release();
}

/// Blocks until the worker is woken, `is_requested()` is true, or `limit_ns` have passed (negative:
/// no limit).
template <typename IsRequested>
void worker::block_for(std::int64_t limit_ns, IsRequested&& is_requested) noexcept {
    lane_.wake_up.wait(worker_state::blocked, limit_ns, [&] {
        if (is_requested()) return true;
        lane_.engine.thread_does(activity::blocked);
        return false;
    });
}

/// Blocks until a thread wakes the worker. If settings_.lend_core is set, lends the core while
/// blocked.
void worker::block() noexcept {
    const auto must_not_block = [this] { return must_stay_awake(); };
    if (!settings_.lend_core) {
        block_for(-1, must_not_block);
    } else if (wait_before_lending()) {
        settings_.lend_core(true);
        block_for(-1, must_not_block);
        if (!must_stop_.load(std::memory_order_seq_cst)) settings_.lend_core(false);
    }
    lane_.engine.thread_does(activity::idle);
}

/// Blocks for at most lend_after_ns without lending the core.
/// @return whether to lend the core: no work has come, and lending was requested or the time has
/// passed
bool worker::wait_before_lending() noexcept {
    const auto is_requested = [this] { return lends_at_once_.load(std::memory_order_seq_cst); };
    const auto limit_ns = settings_.lend_after_ns == 0 ? -1 : static_cast<std::int64_t>(settings_.lend_after_ns);
    const std::uint64_t begin_ns = now_ns();
    block_for(limit_ns, [&] { return must_stay_awake() || is_requested(); });
    const bool is_over = limit_ns >= 0 && now_ns() - begin_ns >= settings_.lend_after_ns;
    return (is_requested() || is_over) && !must_stay_awake();
}

/// Records the activity of a worker that polls without the progress lock.
void worker::record_idle() const noexcept {
    lane_.engine.thread_does(lane_.engine.approx_has_work() ? activity::poll : activity::idle);
}

/// Whether other ranks' doorbells announce every operation in flight.
bool worker::is_rung_for_all() const noexcept {
    return lane_.node() != nullptr && !lane_.engine.must_serve_others() && lane_.node()->is_rung_for_all();
}

bool worker::must_stay_awake() const noexcept {
    return must_stop_.load(std::memory_order_seq_cst) || lane_.is_paused() || has_work();
}

bool worker::has_work() const noexcept {
    return lane_.has_arrivals() || lane_.engine.approx_has_work() || lane_.engine.must_serve_others();
}

/// The loop of a paused worker, without the progress lock. The worker polls incomplete tasks now
/// and then, since a thread may wait for a task outside of this library. Without incomplete tasks
/// it blocks.
void worker::run_paused() noexcept {
    if (settings_.lend_core) settings_.lend_core(true);
    while (lane_.is_paused() && !must_stop_.load(std::memory_order_relaxed)) {
        lane_.engine.thread_does(activity::paused);
        wait_paused();
    }
    lane_.engine.thread_does(activity::idle);
    if (settings_.lend_core && !must_stop_.load(std::memory_order_seq_cst)) settings_.lend_core(false);
}

void worker::wait_paused() noexcept {
    const auto must_go_on = [this] { return !lane_.is_paused() || must_stop_.load(std::memory_order_seq_cst); };
    if (!has_work()) {
        count_block();
        return block_for(-1, [&] { return must_go_on() || has_work(); });
    }
    lane_.wake_up.wait(worker_state::paused, static_cast<std::int64_t>(tuning::longest_unwoken_wait_ns), must_go_on);
    // If another thread has the lock, that thread polls.
    if (must_go_on() || !lane_.engine.lock.try_acquire()) return;
    static_cast<void>(timed_progress());
    lane_.submitted.publish_free_cells();
    lane_.engine.lock.release();
}

/// @return false if spin_ns have passed
bool worker::spin_until_work() noexcept {
    poll_limit limit{settings_.spin_ns};
    while (!lane_.could_move() && !must_stop_.load(std::memory_order_relaxed)) {
        if (lane_.is_paused()) return true;
        if (limit.wants_clock() && limit.is_over(now_ns())) return false;
    }
    return true;
}

/// @return false if the worker must stop. The lock is not taken then: its holder may never give it
/// back
bool worker::acquire_lock() noexcept {
    while (lane_.engine.lock.has_callers() || !lane_.engine.lock.try_acquire()) {
        if (must_stop_.load(std::memory_order_relaxed)) return false;
        sched_yield();
    }
    return true;
}

bool worker::yield_lock() noexcept {
    lane_.engine.thread_does(activity::others_progress);
    lane_.engine.lock.release();
    return acquire_lock();
}

/// Polls, unless another thread has made progress since the last turn and nothing needs this
/// worker.
/// @param n_calls_known  the lane's number of progress calls at the worker's last turn
/// @param is_woken  whether the worker was woken
worker_turn worker::turn(std::uint64_t& n_calls_known, bool is_woken) noexcept {
    worker_turn found{.has_window = lane_.engine.has_windows()};
    const bool must_poll = is_woken || lane_.has_arrivals() || found.has_window;
    const bool others_polled = lane_.engine.approx_progress_calls() != n_calls_known;
    if (others_polled && !must_poll) {
        found.others_progress = true;
    } else if (!lane_.engine.lock.try_acquire()) {
        found.lock_is_taken = true;
    } else {
        found.moved = timed_progress() || is_woken;
        if (!found.moved && lane_.engine.must_serve_others()) lane_.engine.serve_windows();
        lane_.submitted.publish_free_cells();
        lane_.engine.lock.release();
    }
    n_calls_known = lane_.engine.approx_progress_calls();
    found.has_work = lane_.engine.approx_has_work() || lane_.engine.must_serve_others();
    found.is_rung = found.has_work && is_rung_for_all();
    found.now_ns = now_ns();
    return found;
}

/// @return whether the worker was woken, or found a reason to poll
bool worker::wait(const worker_pause& next, const worker_turn& after, std::uint64_t& n_calls_known) noexcept {
    if (after.has_work && settings_.counters != nullptr) ++settings_.counters->worker_timed_waits;
    const bool others_progress = after.others_progress || after.lock_is_taken;
    const auto kind = others_progress ? activity::others_progress : activity::timed_wait;
    lane_.engine.thread_does(kind);
    const bool is_armed = next.what == worker_pause::kind::arm;
    bool has_reason = false;
    const worker_state how = is_armed ? worker_state::armed : worker_state::waiting;
    const worker_state ended = lane_.wake_up.wait(how, next.ns, [&] {
        if (is_armed) has_reason = poll_once_armed(n_calls_known);
        lane_.engine.thread_does(kind);
        // If another thread has the lock, that thread accepts new submissions.
        has_reason = has_reason || (lane_.has_arrivals() && !after.lock_is_taken) || lane_.is_paused() ||
                     must_stop_.load(std::memory_order_seq_cst);
        return has_reason;
    });
    if (ended == worker_state::rung && settings_.counters != nullptr) ++settings_.counters->worker_rung;
    return ended != how || has_reason;
}

/// Called after the doorbell is armed.
/// @return whether there is a reason not to wait
bool worker::poll_once_armed(std::uint64_t& n_calls_known) noexcept {
    if (lane_.node() != nullptr) lane_.node()->armed();
    // The lock's holder may start operations that no doorbell announces.
    if (!lane_.engine.lock.try_acquire()) return true;
    const bool has_moved = timed_progress();
    lane_.submitted.publish_free_cells();
    lane_.engine.lock.release();
    n_calls_known = lane_.engine.approx_progress_calls();
    return has_moved || !is_rung_for_all();
}

/// @return whether the worker was woken
bool worker::pause(const worker_pause& next, const worker_turn& after, std::uint64_t& n_calls_known) noexcept {
    switch (next.what) {
    case worker_pause::kind::poll:
    case worker_pause::kind::yield: return false;
    case worker_pause::kind::wait:
    case worker_pause::kind::arm: return wait(next, after, n_calls_known);
    case worker_pause::kind::block: break;
    }
    count_block();
    // Another thread may have started an operation since the last progress call. A submitter that
    // wakes this worker on its core finishes its post first.
    const batch_scheduling until_the_submitter_yields;
    block();
    return true;
}

void worker::run_shared() noexcept {
    // With a long time slice, a computing thread would keep the core for milliseconds after the
    // worker was woken. A short slice lets the worker preempt that thread.
    request_short_time_slices();
    idle_strategy idle{settings_.spin_ns, static_cast<std::int64_t>(settings_.wait_max_ns)};
    std::uint64_t n_calls_known = lane_.engine.approx_progress_calls();
    bool is_woken = false;
    while (!must_stop_.load(std::memory_order_relaxed)) {
        if (lane_.is_paused()) [[unlikely]]
            run_paused();
        const worker_turn found = turn(n_calls_known, is_woken);
        const worker_pause next = idle.after(found);
        if (next.what == worker_pause::kind::yield) {
            record_idle();
            sched_yield();
            idle.yielded(found.now_ns, now_ns());
        }
        is_woken = pause(next, found, n_calls_known);
    }
}

} // namespace commtask::detail
