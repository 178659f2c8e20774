// SPDX-License-Identifier: Apache-2.0
//
// How threads wait in the library. A waiting thread polls its task, makes progress if that is
// faster or no other thread does, and then sleeps in the wait queue. wait_limit.hpp decides how
// long, and progress_lock.hpp which thread may make progress. docs/architecture.md lists the waits
// that do not use this file.
#pragma once

#include "base/tuning.hpp"
#include "core/lane_set.hpp"
#include "core/wait_limit.hpp"

#include <algorithm>
#include <cstdint>

#include <sched.h>

namespace commtask::detail {

/// How threads wait for tasks.
struct waiting_policy {
    bool worker_is_reserved = false;
    std::uint64_t spin_ns = 0; ///< How long a waiting thread spins before it sleeps.
    /// A waiting thread makes progress itself although the worker has a core of its own: then data
    /// are received on the core that uses them.
    bool takes_over = false;
};

/// The result of progress_for_a_moment().
enum class progress_result : std::uint8_t {
    refused, ///< Another thread has the progress lock.
    idle,    ///< Nothing moved.
    moved,   ///< Something was started or ended.
};

/// Makes up to `most_calls` progress calls for the lane, or until `is_done()`. Refused if another
/// thread has the progress lock, or in a callback, which runs in a progress call. A thread that
/// then turns to other work calls leave_to_worker().
/// @param is_done  bool(bool moved): called before every progress call
template <typename IsDone>
progress_result progress_for_a_moment(lane& polled, int most_calls, IsDone&& is_done) {
    if (in_progress_call()) return progress_result::refused;
    const bool has_lock = polled.engine.lock.is_mine();
    if (!has_lock && (polled.engine.lock.has_callers() || !polled.engine.lock.try_acquire()))
        return progress_result::refused;
    bool moved = false;
    for (int i = 0; i < most_calls && !is_done(moved) && (has_lock || !polled.engine.lock.has_callers()); ++i) {
        moved = polled.engine.progress() || moved;
    }
    if (!has_lock) polled.engine.lock.release();
    return moved ? progress_result::moved : progress_result::idle;
}

/// Called by a thread that has made progress and turns to other work: wakes the worker if something
/// is left, such as tasks that callbacks have posted without waking a worker.
inline void leave_to_worker(lane& polled) noexcept {
    polled.engine.thread_does(activity::none);
    if (polled.engine.approx_has_work() || polled.has_arrivals()) polled.wake_up.wake_from_long_wait();
}

/// Makes progress for the lane instead of its reserved worker. Ends when `is_done()`, when other
/// threads need the lock or MPI, when nothing has moved for `still_ns`, or at about `deadline_ns`
/// of now_ns(). Does nothing if another waiting thread does the same. Not in a callback.
/// @return whether anything moved
template <typename IsDone>
bool progress_instead(lane& polled, std::uint64_t still_ns, std::uint64_t deadline_ns, IsDone&& is_done) {
    // A thread that is blocked in MPI needs MPI's lock, and may share this thread's core; the
    // worker has a core of its own.
    const auto must_leave = [&] {
        return polled.engine.lock.has_callers() || polled.engine.lock.has_blocked_outside();
    };
    if (must_leave() || !polled.engine.lock.try_claim_progress()) return false;
    bool has_moved = false;
    if (polled.engine.lock.try_acquire_first(std::min(deadline_ns, now_ns() + still_ns))) {
        poll_limit limit{still_ns, deadline_ns};
        while (!is_done() && !must_leave()) {
            if (polled.engine.progress()) {
                has_moved = true;
                limit.moved();
            }
            if (limit.wants_clock() && limit.is_over(now_ns())) break;
        }
        polled.engine.lock.release();
        leave_to_worker(polled);
    }
    polled.engine.lock.end_claim();
    return has_moved;
}

/// Waits until `is_done()`. If the workers share their cores, or the calling thread has a progress
/// lock, it makes progress for all lanes in turn. Otherwise it does so only with policy.takes_over,
/// at the beginning of the wait and as long as something moves.
/// @param timeout_ns  negative: without limit
/// @return whether `is_done()`
template <typename IsDone>
bool wait_in_library(lane_set& lanes, const waiting_policy& policy, std::int64_t timeout_ns, IsDone&& is_done) {
    if (is_done()) return true;
    if (timeout_ns == 0) return false;
    const bool has_lock = lanes.has_lock(); // Then a sleeping thread would never be woken.
    // A paused worker makes no progress, even on a core of its own.
    const auto leaves_it_to_worker = [&] { return policy.worker_is_reserved && !has_lock && !lanes.are_paused(); };
    wait_limit limit{now_ns(), timeout_ns, policy.spin_ns};
    bool has_made_progress = false;
    const auto leave = [&](bool result) {
        if (has_made_progress) {
            for (lane& each : lanes) leave_to_worker(each);
        }
        return result;
    };
    for (;;) {
        waiting_turn turn{.must_make_progress = has_lock};
        if (leaves_it_to_worker()) {
            for (unsigned i = 0; i < tuning::steps_in_a_row && !is_done(); ++i) pause_briefly();
            if (is_done()) return leave(true); // Checked before a line of the worker is read.
            if (lanes[0].engine.lock.has_blocked_outside())
                sched_yield(); // Yields to a thread in MPI, which may share this core.
            if (policy.takes_over && limit.may_take_over()) {
                for (lane& each : lanes) {
                    if (is_done()) break;
                    const bool moved = progress_instead(each, policy.spin_ns, limit.deadline_ns(), is_done);
                    turn.has_moved = turn.has_moved || moved;
                }
            }
        } else {
            for (lane& each : lanes) {
                const progress_result result = progress_for_a_moment(each, static_cast<int>(tuning::steps_in_a_row),
                                                                     [&](bool) { return is_done(); });
                if (result == progress_result::refused) continue;
                has_made_progress = true;
                turn.has_moved = turn.has_moved || result == progress_result::moved;
                turn.goes_on = turn.goes_on || each.engine.approx_has_work();
            }
            if (!turn.has_moved) sched_yield();
        }
        if (is_done()) return leave(true);
        const wait_limit::verdict next = limit.after(now_ns(), turn);
        if (next == wait_limit::verdict::leave) return leave(false);
        if (next == wait_limit::verdict::go_on) continue;
        for (lane& each : lanes) each.engine.thread_does(activity::none);
        lanes.waiters.wait(limit.sleep_ns(), is_done);
    }
}

} // namespace commtask::detail
