// SPDX-License-Identifier: Apache-2.0
//
// A task completes in this order: status, callback, final state, successors. After the final state,
// the runtime does not access the caller's memory.
#include "core/progress_engine.hpp"

#include "base/log.hpp"
#include "base/tuning.hpp"
#include "core/graph.hpp"

#include <cstring>

namespace commtask::detail {

progress_engine::progress_engine(transport& carrier, submission_queue& submitted, scheduler& scheduled,
                                 progress_requests& requests, const incomplete_tasks& incomplete, wait_queue& waiters,
                                 const lane_settings& settings)
    : transport_(&carrier), submitted_(submitted), scheduled_(scheduled), requests_(requests), incomplete_(incomplete),
      waiters_(waiters), node_(settings.node), failures_(settings.failures), activities_(settings.activities),
      number_(settings.number), has_other_lanes_(settings.n_lanes > 1),
      callbacks_(settings.warns ? settings.callback_limit_ns : 0) {}

void progress_engine::begin_call() noexcept {
    requests_.begin_call();
    scheduled_.begin_call();
    n_ended_in_call_ = 0;
}

void progress_engine::end_call() noexcept {
    if (lock.is_abandoned()) return; // Incomplete tasks do not change.
    if (n_ended_in_call_ > 0) waiters_.notify_all();
    publish_remaining_work();
}

void progress_engine::publish_remaining_work() noexcept {
    const bool work_left = has_work();
    // relaxed: a thread that leaves work to a waiting worker wakes it.
    if (work_left != has_work_.load(std::memory_order_relaxed)) has_work_.store(work_left, std::memory_order_relaxed);
    if (!requests_.begin_check()) return;
    // Announcements are ignored: their tasks have ended, and a node leader that receives none must
    // not delay the end of this rank.
    if (requests_.set_drained(!has_tasks() && scheduled_.approx_live() == 0 && submitted_.is_empty()))
        waiters_.notify_all();
}

bool progress_engine::must_run() const noexcept {
    return submitted_.has_marked() || has_work() || requests_.are_pending() || must_serve_others();
}

bool progress_engine::progress() noexcept {
    count_one(n_calls_);
    requests_.begin_call();
    task* submitted = submitted_.take();
    if (submitted == nullptr && !must_run()) {
        thread_does(activity::idle);
        return false;
    }
    const progress_scope here{*this};
    begin_call();
    bool moved = submitted != nullptr || submitted_.has_marked() || has_listed();
    thread_does(moved ? activity::issue : activity::poll);
    for (unsigned n_taken = 0; submitted != nullptr;) {
        scheduled_.accept(*submitted);
        submitted = ++n_taken < tuning::steps_in_a_row ? submitted_.take() : nullptr;
    }
    process_marked();
    start_ready();
    const bool has_polled = transport_->in_flight() > 0;
    if (has_polled) {
        transport_->poll(*this);
        wait_if_abandoned();
        start_ready();
    }
    if (!(has_polled && transport_->has_made_progress()) && must_serve_others()) transport_->make_progress();
    if (const char* const heading = requests_.take_list()) {
        if (!incomplete_.print(heading)) say("no task is unfinished");
    }
    if (n_ended_in_call_ > 0) waiters_.notify_all();
    moved = moved || n_ended_in_call_ > 0;
    if (node_ != nullptr) [[unlikely]]
        node_->polled();
    // Tasks in has_kept() are invisible to other threads, so has_work_ must report them.
    if (moved || submitted_.has_kept() || requests_.is_watched() || node_ != nullptr) publish_remaining_work();
    return moved;
}

void progress_engine::serve_windows() noexcept {
    if (!has_windows()) return; // For a node leader's announcements one poll is enough.
    const progress_scope here{*this};
    for (unsigned i = 0; i < tuning::steps_in_a_row && !lock.has_callers() && !submitted_.could_take(); ++i) {
        transport_->make_progress();
    }
}

void progress_engine::poll_one(task& which) noexcept {
    if (transport_->has_polled_all() || !scheduled_.is_live(which) || which.run.now != phase::in_flight) return;
    const call_scope here{*this};
    transport_->poll_one(which, *this);
    start_ready();
}

void progress_engine::accept_all() noexcept {
    if (!submitted_.has_posted() && !submitted_.has_early()) return;
    const call_scope here{*this};
    accept_submitted();
}

void progress_engine::accept_and_start() noexcept {
    if (submitted_.is_empty() && !submitted_.has_early() && !has_listed()) return;
    thread_does(activity::issue);
    const call_scope here{*this};
    accept_submitted();
    process_marked();
    start_ready();
}

void progress_engine::accept_submitted() noexcept {
    while (submitted_.has_posted() || submitted_.has_early()) {
        // A submitter that has reserved a position fills it soon.
        if (task* const submitted = submitted_.take()) {
            scheduled_.accept(*submitted);
        } else {
            pause_briefly();
        }
    }
}

/// Handles the tasks that other threads have marked.
void progress_engine::process_marked() noexcept {
    for (task* which = submitted_.take_marked(); which != nullptr;) {
        task* const next = which->next_marked;
        // Cleared first: a thread that marks the task afterwards adds it to the list again.
        // acq_rel: partner of the fetch_or in lane::mark().
        const std::uint32_t marks = which->marks.fetch_and(
            ~std::uint32_t{mark_listed | mark_released | mark_members_ended}, std::memory_order_acq_rel);
        if ((marks & mark_released) != 0) scheduled_.released(*which);
        if ((marks & mark_cancel) != 0) scheduled_.cancel(*which);
        // The run ends in start_ready(), since the calling thread may be a submitter, which must
        // not run callbacks. An abandoned run has ended without its members.
        const bool ends_run = (marks & mark_members_ended) != 0 && scheduled_.is_live(*which);
        if (ends_run && --which->run.open_parts == 0) ended_at_once_.push(*which);
        task_pool::drop(which);
        which = next;
    }
}

/// Whether the task's end calls no callback, neither its own nor the callback of its run.
[[nodiscard]] static bool has_no_callback(const task& ended) noexcept {
    return !ended.is_member() && (!ended.has_extras() || ended.extras.callback == nullptr);
}

bool progress_engine::start_submitted() noexcept {
    const call_scope here{*this};
    unsigned n_taken = 0;
    // If an earlier position is not filled yet, the thread that fills it also calls this function.
    for (task* submitted = submitted_.take(); submitted != nullptr; submitted = submitted_.take()) {
        scheduled_.accept(*submitted);
        if (++n_taken == tuning::steps_in_a_row) break;
    }
    process_marked();
    for (unsigned n_started = 0; scheduled_.has_ready() && n_started < tuning::steps_in_a_row; ++n_started) {
        task& next = scheduled_.first_ready();
        // A run without open members would end at once, and call its callback.
        const bool may_start = next.is_run() ? next.run.open_parts > 1 : transport_->may_start_on_submitter(next);
        if (scheduler::must_not_start(next) || !may_start) break;
        static_cast<void>(scheduled_.take_ready());
        if (next.is_run()) {
            start_run(next);
            continue;
        }
        const bool is_in_flight = start(next);
        if (lock.is_abandoned()) return true; // Incomplete tasks do not change.
        if (is_in_flight) continue;
        // A task with a callback ends in the next progress call.
        if (has_no_callback(next)) {
            end_by_result(next);
        } else {
            ended_at_once_.push(next);
        }
    }
    start_gathered();
    return n_taken < tuning::steps_in_a_row && !scheduled_.has_ready() && !submitted_.has_early();
}

/// Blocks forever if the lane is abandoned. No other thread waits for the calling thread.
void progress_engine::wait_if_abandoned() noexcept {
    if (!lock.is_abandoned()) return;
    lock.release(); // No thread can take an abandoned lock.
    for (const std::atomic<std::uint32_t> never{0};;) sleep_while_equal(never, 0, -1);
}

void progress_engine::start_ready() noexcept {
    while (task* const next = ended_at_once_.pop()) end_by_result(*next);
    while (task* const next = scheduled_.take_ready()) start_or_end(*next);
    start_gathered();
}

void progress_engine::start_gathered() noexcept {
    if (transport_->has_gathered()) transport_->start_gathered();
    if (node_ != nullptr) [[unlikely]]
        node_->started_gathered();
}

void progress_engine::start_or_end(task& ready) noexcept {
    if (ready.is_run()) return start_run(ready);
    if (scheduler::must_not_start(ready)) return finish(ready, task_state::canceled);
    const bool is_in_flight = start(ready);
    wait_if_abandoned();
    if (!is_in_flight) end_by_result(ready);
}

/// @return whether the operation is in flight; otherwise its result is set
bool progress_engine::start(task& ready) noexcept {
    scheduled_.move(ready, phase::ready, phase::in_flight);
    starting_kind_.store(ready.op.kind, std::memory_order_relaxed);
    if (node_ != nullptr) [[unlikely]]
        node_->starting(ready);
    const start_result result = transport_->start(ready);
    starting_kind_.store(0, std::memory_order_relaxed);
    if (node_ != nullptr && result != start_result::failed) [[unlikely]]
        node_->started(ready, transport_->has_gathered());
    if (result != start_result::started) return false;
    if (ready.run.accepted_ns == 0) ready.run.accepted_ns = scheduled_.call_time();
    return true;
}

void progress_engine::part_ended(task& which, std::uint32_t /*part*/) noexcept {
    COMMTASK_ASSERT(which.run.open_parts > 0);
    if (--which.run.open_parts > 0) return;
    if (node_ != nullptr && !which.is_run()) [[unlikely]]
        node_->ended(which);
    // Without the prefetch, the line would be transferred twice from the waiting thread's core (46
    // ns).
    prefetch_for_write(&which.life);
    end_by_result(which);
}

void progress_engine::end_by_result(task& which) noexcept {
    if (which.is_run()) end_run(which);
    if ((which.flags() & flag_has_snapshots) != 0) [[unlikely]]
        transport_->compare_lists(which);
    if (which.result.error != 0) return finish(which, task_state::failed);
    finish(which, which.result.is_canceled ? task_state::canceled : task_state::completed);
}

void progress_engine::abandon_task(task& which) noexcept {
    if (which.run.now == phase::in_flight) {
        transport_->abandon(which);
        if (node_ != nullptr && !which.is_run()) node_->ended(which);
    }
    finish(which, task_state::abandoned);
}

void progress_engine::finish(task& which, task_state state) noexcept {
    thread_does(activity::issue);
    if (which.run.now == phase::in_flight) {
        transport_->clean_up(which);
    } else {
        std::memset(which.mpi_status, 0, sizeof which.mpi_status);
    }
    scheduled_.end(which, state);
    ++n_ended_in_call_;
    failure_sink* const sink = state == task_state::completed ? nullptr : failures_;
    if (sink != nullptr) [[unlikely]]
        sink->before_callback(which, state);
    if (which.has_extras()) run_callback(which, state);
    if (which.may_keep()) transport_->release_kept(which);
    if (sink != nullptr) [[unlikely]]
        sink->after_callback();
    scheduled_.remove(which);
    // The plan has a second reference, so the slot is valid below.
    const bool is_member = which.is_member();
    if (is_member) scheduler::stop_waiting_for_ready(which);
    if (state == task_state::abandoned) {
        // MPI may still access the buffers, and predecessors may still have edges to the task: the
        // slot is never reused.
        which.run.is_pointed_to = false;
        return graph::finish(which, state, 0, release_to_its_lane, has_other_lanes_);
    }
    // A task that was canceled while it waited keeps a reference for its predecessors;
    // scheduler::released() drops it.
    graph::finish(which, state, which.run.is_pointed_to ? 0 : 1, release_to_its_lane, has_other_lanes_);
    if (is_member) report_to_run(which, state);
}

} // namespace commtask::detail
