// SPDX-License-Identifier: Apache-2.0
//
// Submits tasks to a lane. If the worker has a core of its own, the submitter puts the task into
// the queue and wakes the worker. If the worker shares its core, that would cost two context
// switches for a call of a microsecond. So a submitter that finds the progress lock free starts the
// posted tasks itself, in order. The worker polls the tasks in flight at its own pace.
#include "base/tuning.hpp"
#include "core/lane.hpp"

#include <sched.h>

namespace commtask::detail {

void lane::post(task& posted) noexcept {
    if (this_caller.engine == &engine) {
        // The calling thread is the consumer of the queue, so it makes room itself; the order does
        // not change.
        while (!submitted.try_put(posted, [] {})) submitted.make_room();
        return;
    }
    if (this_caller.engine != nullptr) return post_without_waiting(posted);
    // Read before the post: afterwards the progress engine owns the task.
    const std::uint32_t flags = posted.flags();
    // A function that MPI calls may post while its thread has the progress lock outside of a
    // progress call. No other thread can take tasks out of the queue then, so this thread makes
    // room. In an abandoned lane no thread takes tasks out: the task stays incomplete, and the
    // submitter continues.
    submitted.put(posted, [this] {
        if (engine.lock.is_mine()) submitted.make_room();
        return !engine.lock.is_abandoned();
    });
    if (!this_caller.posts_quietly) after_post(flags);
}

/// A progress call of another lane must not wait for room here: a progress call of this lane may be
/// waiting for room there.
void lane::post_without_waiting(task& posted) noexcept {
    submitted.put_without_waiting(posted);
    wake_up.wake();
}

bool lane::try_post(task& posted, void (*take_turn)(task&) noexcept) noexcept {
    const auto take = [&] {
        if (take_turn != nullptr) take_turn(posted);
    };
    if (this_caller.engine == &engine) {
        take();
        post(posted);
        return true;
    }
    const std::uint32_t flags = posted.flags();
    if (!submitted.try_put(posted, take)) return false;
    after_post(flags);
    return true;
}

/// With COMMTASK_PROGRESS_FOLLOWS the submitter makes progress itself, so a worker in a timed wait
/// is not woken. A blocked worker is, since it would not notice tasks that the submitter leaves.
void lane::after_post(std::uint32_t flags) noexcept {
    if ((flags & COMMTASK_PROGRESS_FOLLOWS) != 0) return wake_up.wake_from_long_wait();
    if (!try_start_here()) wake_up.wake();
}

/// Starts posted tasks on the calling thread. Does nothing inside MPI, or in a progress call of
/// another lane, which would be delayed.
/// @return whether all remaining tasks are in flight; otherwise the worker must be woken
bool lane::try_start_here() noexcept {
    if ((!settings_.submitters_start && !is_paused()) || this_caller.engine != nullptr || this_caller.waits_are_refused)
        return false;
    // Another submitter keeps the lock only for a short time: to wait for it costs less than to
    // wake the worker.
    for (unsigned n_tries = 0; engine.lock.has_callers() || !engine.lock.try_acquire(); ++n_tries) {
        if (n_tries == tuning::steps_in_a_row || engine.lock.is_mine()) return false;
        pause_briefly();
    }
    return start_and_release();
}

void lane::start_posted(const task& which, std::uint64_t deadline_ns) noexcept {
    if (this_caller.engine != nullptr || this_caller.waits_are_refused || engine.lock.is_mine()) return;
    bool has_lock = engine.lock.try_acquire_first(deadline_ns);
    while (has_lock) {
        bool is_left = false;
        if (!start_and_release(&which, &is_left)) wake_up.wake();
        if (!is_left) return;
        // More tasks are left than one call starts, or the worker must start an earlier task. The
        // worker would let an external caller go first, so this thread does not wait as one.
        do {
            if (engine.lock.is_abandoned() || now_ns() >= deadline_ns) return;
            sched_yield();
            has_lock = engine.lock.try_acquire();
        } while (!has_lock);
    }
}

/// Called with the progress lock, which is given back.
/// @param which  null, or a task to which the caller has a reference
/// @param is_left  set to whether `which` was neither started nor waits for something
/// @return whether all remaining tasks are in flight; otherwise the worker must be woken
bool lane::start_and_release(const task* which, bool* is_left) noexcept {
    const bool are_all_started = engine.start_submitted();
    if (which != nullptr) {
        *is_left = !engine.lock.is_abandoned() && (which->run.now == phase::posted || which->run.now == phase::ready);
    }
    if (engine.lock.is_abandoned()) {
        engine.lock.release(); // No thread takes it.
        return true;
    }
    const bool leaves_work = engine.has_work();
    engine.lock.release();
    // A worker in a long wait must poll the started tasks; in a short wait it polls soon by itself.
    // A new task may come from a function that MPI called on this thread; its post has woken no
    // worker.
    if (are_all_started && (leaves_work || has_arrivals())) wake_up.wake_from_long_wait();
    return are_all_started;
}

void lane::released(task& which) noexcept {
    if (this_caller.engine == &engine) return scheduled.released(which);
    mark(which, mark_released);
}

void lane::cancel(task& which) noexcept {
    if (this_caller.engine == &engine) {
        // relaxed: only this thread reads the mark.
        which.marks.fetch_or(mark_cancel, std::memory_order_relaxed);
        return scheduled.cancel(which);
    }
    mark(which, mark_cancel);
}

void lane::mark(task& which, std::uint32_t bit) noexcept {
    // The slot must not be reused before a progress call has taken it out of the queue, even if the
    // program releases its handle.
    which.life.take_reference();
    // acq_rel: partner of the fetch_and in progress_engine::process_marked(). If two threads mark
    // at once, only the first adds the task to the queue.
    const std::uint32_t before = which.marks.fetch_or(bit | mark_listed, std::memory_order_acq_rel);
    if ((before & mark_listed) != 0) {
        task_pool::drop(&which);
        return;
    }
    submitted.push_marked(which);
    if (!try_start_here()) wake_up.wake();
}

} // namespace commtask::detail
