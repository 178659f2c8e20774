// SPDX-License-Identifier: Apache-2.0
//
// How a task comes into its lane. Beside a worker with a core of its own a poster hands over, and rings. Where the worker
// shares its core that would be two changes of threads for a call of a microsecond: there a poster who finds the progress lock free
// issues what was posted itself, in order, and the worker looks after what is in flight at its own pace.
#include "base/tuning.hpp"
#include "core/lane.hpp"
#include "core/lane_driving.hpp"

#include <utility>

namespace commtask::detail {

lane::quiet_posts::quiet_posts(bool is_quiet) noexcept { posts_quietly = is_quiet; }
lane::quiet_posts::~quiet_posts() { posts_quietly = false; }

void lane::post(task& posted) noexcept {
    if (driven_by_me == this) {
        // The driver is the one who empties the inbox: it makes room itself, and keeps the order.
        while (!submitted_.try_put(posted, [] {})) submitted_.make_room();
        return;
    }
    if (driven_by_me != nullptr) return post_without_waiting(posted);
    const std::uint32_t flags = posted.flags(); // once it is in the inbox, the task is the driver's
    // A function that MPI calls may post with the progress lock in hand, and without driving: nobody else can take anything out. Nobody at
    // all does once the lane was left behind: the task is one of those that stay as they are, and the poster goes on.
    submitted_.put(posted, [this] {
        if (lock.is_mine()) submitted_.make_room();
        return !lock.is_abandoned();
    });
    if (!posts_quietly) see_to_posted(flags);
}

/// Another lane's driver must not wait for room here: this lane's may be waiting for room there. What finds none keeps its
/// place, and comes another way.
void lane::post_without_waiting(task& posted) noexcept {
    submitted_.put_without_waiting(posted);
    wake_up.wake();
}

bool lane::try_post(task& posted, void (*take_turn)(task&) noexcept) noexcept {
    const auto take = [&] {
        if (take_turn != nullptr) take_turn(posted);
    };
    if (driven_by_me == this) {
        take();
        post(posted);
        return true;
    }
    const std::uint32_t flags = posted.flags();
    if (!submitted_.try_put(posted, take)) return false;
    see_to_posted(flags);
    return true;
}

/// A poster that is about to drive needs no worker that naps. It wakes one in deep sleep, which looks at nothing by itself and so would
/// miss what the poster leaves behind.
void lane::see_to_posted(std::uint32_t flags) noexcept {
    if ((flags & COMMTASK_PROGRESS_FOLLOWS) != 0) return wake_up.wake_from_long_wait();
    if (!try_issue_here()) wake_up.wake();
}

/// Not for who drives another lane, which would hold that one up, nor for who is inside MPI.
/// @return whether nothing is left but what is in flight; otherwise somebody must be woken
bool lane::try_issue_here() noexcept {
    if ((!settings_.posters_issue && !is_paused()) || driven_by_me != nullptr || waits_are_refused) return false;
    // Another poster has the progress lock for about as long as this one will: to wait so long costs less than to wake the worker.
    for (int looks = 0; lock.has_callers() || !lock.try_take(); ++looks) {
        if (looks == tuning::looks_for_lock || lock.is_mine()) return false;
        pause_briefly();
    }
    return issue_and_give_back();
}

void lane::start_posted(const task& which, std::uint64_t deadline_ns) noexcept {
    if (driven_by_me != nullptr || waits_are_refused || lock.is_mine()) return;
    bool has_lock = lock.try_take_first(deadline_ns);
    while (has_lock) {
        bool is_left = false;
        if (!issue_and_give_back(&which, &is_left)) wake_up.wake();
        if (!is_left) return;
        // More than one pass takes, or behind something that the worker must do, which would wait for an external caller.
        do {
            if (lock.is_abandoned() || now_ns() >= deadline_ns) return;
            sched_yield();
            has_lock = lock.try_take();
        } while (!has_lock);
    }
}

/// With the progress lock, which is given back.
/// @param which    null, or a task of which the caller has a reference
/// @param is_left  whether that task neither is MPI's yet nor waits for something
/// @return whether nothing is left but what is in flight; otherwise the worker must be woken
bool lane::issue_and_give_back(const task* which, bool* is_left) noexcept {
    // That a poster drives for so short a time is not worth two records of a trace.
    const bool is_all_issued = issue_posted();
    if (which != nullptr) {
        *is_left = !lock.is_abandoned() && (which->run.now == phase::posted || which->run.now == phase::ready);
    }
    if (lock.is_abandoned()) {
        lock.give_back(); // nobody takes it
        return true;
    }
    const bool leaves_work = has_work();
    lock.give_back();
    // A worker in a long wait knows nothing of this; after a short one it looks by itself. What arrived meanwhile may be a post of a
    // function that MPI has called here, which woke nobody.
    if (is_all_issued && (leaves_work || has_arrivals())) wake_for_what_is_left();
    return is_all_issued;
}

/// A poster with the progress lock: takes in what has come and issues it, in order, up to what a driver must do: whatever runs a
/// function of the program's, which may want a lock that the poster has.
/// @return false if something is left for a driver
bool lane::issue_posted() noexcept {
    const driving_scope driving{*this};
    take_back_drained();
    begin_pass();
    int n_taken = 0;
    // A place before this poster's may not be filled yet: who fills it comes here too.
    for (task* posted = submitted_.take(); posted != nullptr; posted = submitted_.take()) {
        accept(*posted);
        if (++n_taken == tuning::tasks_per_pass) break;
    }
    take_handed();
    for (int n_issued = 0; !ready_.is_empty() && n_issued < tuning::tasks_per_pass; ++n_issued) {
        task& next = *ready_.first();
        // A run without open members would end here.
        const bool may_start = next.is_run() ? next.run.open_parts > 1 : transport_->may_start_on_poster(next);
        if (is_doomed(next) || !may_start) break;
        static_cast<void>(ready_.pop());
        if (next.is_run()) {
            issue_run(next);
            continue;
        }
        const bool is_in_flight = start(next);
        if (lock.is_abandoned()) return true; // what is left stays as it is
        if (!is_in_flight) {
            // As soon as somebody polls, like what is in flight; or here, where nobody but a waiting thread hears of it.
            if (ends_unheard(next)) {
                end_by_result(next);
            } else {
                ended_at_once_.push(next);
            }
        }
    }
    start_gathered();
    end_pass();
    return n_taken < tuning::tasks_per_pass && ready_.is_empty() && !submitted_.has_early();
}

/// Whether no callback is called when it ends: neither its own, nor that of the run whose last member it may be.
bool lane::ends_unheard(const task& ended) noexcept {
    return !ended.is_member() && (!ended.has_extras() || ended.extras.callback == nullptr);
}

} // namespace commtask::detail
