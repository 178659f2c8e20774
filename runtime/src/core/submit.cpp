// SPDX-License-Identifier: Apache-2.0
//
// The way of a task into its lane. If the worker has a core of its own, the submitter hands the
// task over and wakes the worker. If the worker shares its core, that would be two changes of
// threads for a call of a microsecond. So a submitter that finds the progress lock free starts the
// posted tasks itself, in order. The worker polls tasks in flight at its own pace.
#include "base/tuning.hpp"
#include "core/lane.hpp"

#include <sched.h>

namespace commtask::detail {

void lane::post(task& posted) noexcept {
    if (this_caller.engine == &engine) {
        // A progress call empties the queue: it makes room itself, and keeps the order.
        while (!submitted.try_put(posted, [] {})) submitted.make_room();
        return;
    }
    if (this_caller.engine != nullptr) return post_without_waiting(posted);
    // Read before the post: once the task is in the queue, it is the progress engine's.
    const std::uint32_t flags = posted.flags();
    // A function that MPI calls may post while its thread has the progress lock, outside of a
    // progress call: then no other thread can take tasks out. Once the lane is abandoned, no thread
    // takes tasks out: the task stays as it is, and the submitter goes on.
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

/// A submitter that is about to make progress needs no worker in a timed wait. It wakes a blocked
/// worker, which polls nothing by itself, and so would miss tasks that the submitter does not
/// finish.
void lane::after_post(std::uint32_t flags) noexcept {
    if ((flags & COMMTASK_PROGRESS_FOLLOWS) != 0) return wake_up.wake_from_long_wait();
    if (!try_start_here()) wake_up.wake();
}

/// Starts posted tasks on the calling thread. Not inside MPI, nor in a progress call of another
/// lane, which would hold that lane up.
/// @return whether all tasks left are in flight; otherwise the worker must be woken
bool lane::try_start_here() noexcept {
    if ((!settings_.submitters_start && !is_paused()) || this_caller.engine != nullptr || this_caller.waits_are_refused)
        return false;
    // Another submitter has the progress lock for about as long as this thread would have it: to
    // wait so long costs less than to wake the worker.
    for (unsigned n_tries = 0; engine.lock.has_callers() || !engine.lock.try_take(); ++n_tries) {
        if (n_tries == tuning::steps_in_a_row || engine.lock.is_mine()) return false;
        pause_briefly();
    }
    return start_and_give_back();
}

void lane::start_posted(const task& which, std::uint64_t deadline_ns) noexcept {
    if (this_caller.engine != nullptr || this_caller.waits_are_refused || engine.lock.is_mine()) return;
    bool has_lock = engine.lock.try_take_first(deadline_ns);
    while (has_lock) {
        bool is_left = false;
        if (!start_and_give_back(&which, &is_left)) wake_up.wake();
        if (!is_left) return;
        // There are more tasks than one call takes, or a task ahead that only the worker may start,
        // and the worker would wait for an external caller.
        do {
            if (engine.lock.is_abandoned() || now_ns() >= deadline_ns) return;
            sched_yield();
            has_lock = engine.lock.try_take();
        } while (!has_lock);
    }
}

/// With the progress lock, which is given back.
/// @param which  null, or a task of which the caller has a reference
/// @param is_left  whether `which` was neither given to MPI nor waits for something
/// @return whether all tasks left are in flight; otherwise the worker must be woken
bool lane::start_and_give_back(const task* which, bool* is_left) noexcept {
    const bool are_all_started = engine.start_submitted();
    if (which != nullptr) {
        *is_left = !engine.lock.is_abandoned() && (which->run.now == phase::posted || which->run.now == phase::ready);
    }
    if (engine.lock.is_abandoned()) {
        engine.lock.give_back(); // No thread takes it.
        return true;
    }
    const bool leaves_work = engine.has_work();
    engine.lock.give_back();
    // A worker in a long wait does not know of the started tasks; after a short wait it polls by
    // itself. A task that arrived meanwhile may be the post of a function that MPI has called here,
    // which woke no worker.
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
    // The slot must last until a progress call has taken it out of the queue, whatever the holder
    // of the handle does meanwhile.
    which.life.take_reference();
    // acq_rel: partner of the fetch_and in progress_engine::process_marked(). Two threads may mark at
    // once: the first one hands the task over.
    const std::uint32_t before = which.marks.fetch_or(bit | mark_listed, std::memory_order_acq_rel);
    if ((before & mark_listed) != 0) {
        task_pool::drop(&which);
        return;
    }
    submitted.push_marked(which);
    if (!try_start_here()) wake_up.wake();
}

} // namespace commtask::detail
