// SPDX-License-Identifier: Apache-2.0
//
// How threads wait in the library: they look, they drive where that is quicker or nobody else does, they sleep in the waiting
// room. For how long is in wait_limit.hpp, who may drive in progress_lock.hpp, what a shared worker does meanwhile in worker.cpp, who
// waits otherwise in docs/architecture.md.
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
    std::uint64_t spin_ns = 0; ///< Before the waiting thread sleeps.
    /// A thread that must wait for more than a moment drives the lane itself, though the worker has its own core: what it
    /// waits for is then copied on the core that uses it.
    bool takes_over = false;
};

/// What driving a lane for a moment came to.
enum class progress_result : std::uint8_t {
    refused, ///< Another thread has the progress lock.
    idle,    ///< Nothing moved.
    moved,   ///< Something was started or ended.
};

/// Drives the lane for `most_passes`, or until `is_done()`, if nobody else does; with the progress lock in hand in any case. In a callback
/// the thread drives already, and is refused. Who has driven and turns to something else calls leave_to_worker().
/// @param is_done  bool(bool moved): asked before every pass.
template <typename IsDone>
progress_result progress_for_a_moment(lane& driven, int most_passes, IsDone&& is_done) {
    if (in_progress_call()) return progress_result::refused;
    const bool has_lock = driven.engine.lock.is_mine();
    if (!has_lock && (driven.engine.lock.has_callers() || !driven.engine.lock.try_take()))
        return progress_result::refused;
    bool moved = false;
    for (int i = 0; i < most_passes && !is_done(moved) && (has_lock || !driven.engine.lock.has_callers()); ++i) {
        moved = driven.engine.progress() || moved;
    }
    if (!has_lock) driven.engine.lock.give_back();
    return moved ? progress_result::moved : progress_result::idle;
}

/// Who has driven and turns to something else hands what is left to the worker: also what a callback has posted, for which a
/// driver rings nobody.
inline void leave_to_worker(lane& driven) noexcept {
    driven.engine.thread_does(activity::none);
    if (driven.engine.approx_has_work() || driven.has_arrivals()) driven.wake_up.wake_from_long_wait();
}

/// Drives the lane instead of its reserved worker, until `is_done()`, until others want to drive, until nothing has moved for
/// `patience_ns`, or until about `deadline_ns` of now_ns(). One thread at a time; the others look on. Not from a callback.
/// @return whether anything moved
template <typename IsDone>
bool progress_instead(lane& driven, std::uint64_t patience_ns, std::uint64_t deadline_ns, IsDone&& is_done) {
    // Who is blocked in MPI may have this thread's core only, and needs MPI's lock; the worker has a core of its own.
    const auto must_leave = [&] {
        return driven.engine.lock.has_callers() || driven.engine.lock.has_blocked_outside();
    };
    if (must_leave() || !driven.engine.lock.try_claim_progress()) return false;
    bool has_moved = false;
    if (driven.engine.lock.try_take_first(std::min(deadline_ns, now_ns() + patience_ns))) {
        poll_limit limit{patience_ns, deadline_ns};
        while (!is_done() && !must_leave()) {
            if (driven.engine.progress()) {
                has_moved = true;
                limit.moved();
            }
            if (limit.wants_clock() && limit.is_over(now_ns())) break;
        }
        driven.engine.lock.give_back();
        leave_to_worker(driven);
    }
    driven.engine.lock.end_claim();
    return has_moved;
}

/// Waits until `is_done()`. Where the workers share their cores, or the thread has a progress lock in hand, the waiting thread drives
/// the lanes itself, one after the other; elsewhere if policy.takes_over, as long as the wait is young or something moves.
/// @param timeout_ns negative: for ever.
/// @return whether `is_done()`.
template <typename IsDone>
bool wait_in_library(lane_set& lanes, const waiting_policy& policy, std::int64_t timeout_ns, IsDone&& is_done) {
    if (is_done()) return true;
    if (timeout_ns == 0) return false;
    const bool has_lock = lanes.is_held_by_me(); // then sleep would be for ever
    // A worker that is paused does nothing for who waits, whatever core it has.
    const auto looks_on = [&] { return policy.worker_is_reserved && !has_lock && !lanes.are_paused(); };
    wait_limit patience{now_ns(), timeout_ns, policy.spin_ns};
    bool has_driven = false;
    const auto leave = [&](bool result) {
        if (has_driven) {
            for (lane& each : lanes) leave_to_worker(each);
        }
        return result;
    };
    for (;;) {
        waiting_turn turn{.must_make_progress = has_lock};
        if (looks_on()) {
            for (unsigned i = 0; i < tuning::steps_in_a_row && !is_done(); ++i) pause_briefly();
            if (is_done()) return leave(true); // before a line is read that is the worker's
            if (lanes[0].engine.lock.has_blocked_outside())
                sched_yield(); // to a thread in MPI, which may have this core only
            if (policy.takes_over && patience.may_take_over()) {
                for (lane& each : lanes) {
                    if (is_done()) break;
                    const bool moved = progress_instead(each, policy.spin_ns, patience.deadline_ns(), is_done);
                    turn.has_moved = turn.has_moved || moved;
                }
            }
        } else {
            for (lane& each : lanes) {
                const progress_result result = progress_for_a_moment(each, static_cast<int>(tuning::steps_in_a_row),
                                                                     [&](bool) { return is_done(); });
                if (result == progress_result::refused) continue;
                has_driven = true;
                turn.has_moved = turn.has_moved || result == progress_result::moved;
                turn.goes_on = turn.goes_on || each.engine.approx_has_work();
            }
            if (!turn.has_moved) sched_yield();
        }
        if (is_done()) return leave(true);
        const wait_limit::verdict next = patience.after(now_ns(), turn);
        if (next == wait_limit::verdict::leave) return leave(false);
        if (next == wait_limit::verdict::go_on) continue;
        for (lane& each : lanes) each.engine.thread_does(activity::none);
        lanes.waiters.wait(patience.sleep_ns(), is_done);
    }
}

} // namespace commtask::detail
