// SPDX-License-Identifier: Apache-2.0
//
// Completion order within a task: status, callback, state, successors. Once the state is final, the
// runtime does not touch the caller's memory again.
#include "core/progress_engine.hpp"

#include "base/speech.hpp"
#include "base/tuning.hpp"
#include "core/graph.hpp"

#include <cstring>

namespace commtask::detail {

progress_engine::progress_engine(transport& carrier, submission_queue& submitted, scheduler& scheduled,
                                 progress_requests& requests, const incomplete_tasks& incomplete, waiting_room& waiters,
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
    if (lock.is_abandoned()) return; // All tasks that are left stay as they are.
    if (n_ended_in_call_ > 0) waiters_.announce();
    publish_what_is_left();
}

void progress_engine::publish_what_is_left() noexcept {
    const bool work_left = has_work();
    // relaxed: a thread that leaves work to a worker that may wait wakes it.
    if (work_left != has_work_.load(std::memory_order_relaxed)) has_work_.store(work_left, std::memory_order_relaxed);
    if (!requests_.begin_answer()) return;
    // Announcements may be left: their tasks have ended, and a node leader that receives none must
    // not hold up this rank.
    if (requests_.answer(!has_tasks() && scheduled_.approx_live() == 0 && submitted_.is_empty())) waiters_.announce();
}

bool progress_engine::has_something_to_do() const noexcept {
    return submitted_.has_handed() || has_work() || requests_.want_an_answer() || must_serve_others();
}

bool progress_engine::progress() noexcept {
    count_one(n_calls_);
    requests_.begin_call();
    task* submitted = submitted_.take();
    if (submitted == nullptr && !has_something_to_do()) {
        thread_does(activity::idle);
        return false;
    }
    const progress_scope here{*this};
    begin_call();
    bool moved = submitted != nullptr || submitted_.has_handed() || has_put_away();
    thread_does(moved ? activity::issue : activity::poll);
    for (unsigned n_taken = 0; submitted != nullptr;) {
        scheduled_.accept(*submitted);
        submitted = ++n_taken < tuning::steps_in_a_row ? submitted_.take() : nullptr;
    }
    take_handed();
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
    if (n_ended_in_call_ > 0) waiters_.announce();
    moved = moved || n_ended_in_call_ > 0;
    if (node_ != nullptr) [[unlikely]]
        node_->polled();
    // No other thread sees tasks that were taken out and whose turn has not come.
    if (moved || submitted_.has_kept() || requests_.is_watched() || node_ != nullptr) publish_what_is_left();
    return moved;
}

void progress_engine::serve_windows() noexcept {
    if (!has_windows()) return; // a node leader that listens needs one poll
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

void progress_engine::take_in() noexcept {
    if (!submitted_.has_posted() && !submitted_.has_early()) return;
    const call_scope here{*this};
    take_in_submitted();
}

void progress_engine::take_in_and_start() noexcept {
    if (submitted_.is_empty() && !submitted_.has_early() && !has_put_away()) return;
    thread_does(activity::issue);
    const call_scope here{*this};
    take_in_submitted();
    take_handed();
    start_ready();
}

void progress_engine::take_in_submitted() noexcept {
    while (submitted_.has_posted() || submitted_.has_early()) {
        // A submitter that has taken a place fills it at once.
        if (task* const submitted = submitted_.take()) {
            scheduled_.accept(*submitted);
        } else {
            pause_briefly();
        }
    }
}

/// Acts on the marks of tasks that other threads have handed over.
void progress_engine::take_handed() noexcept {
    for (task* which = submitted_.take_handed(); which != nullptr;) {
        task* const next = which->next_handed;
        // Cleared before acting: a thread that marks the task afterwards hands it over again.
        // acq_rel: partner of the fetch_or in lane::hand_over().
        const std::uint32_t marks = which->marks.fetch_and(
            ~std::uint32_t{mark_handed_off | mark_released | mark_members_ended}, std::memory_order_acq_rel);
        if ((marks & mark_released) != 0) scheduled_.released(*which);
        if ((marks & mark_cancel) != 0) scheduled_.cancel(*which);
        // The calling thread may be a submitter, which ends nothing. A run that was given up has
        // ended without its members.
        const bool tells_a_run = (marks & mark_members_ended) != 0 && scheduled_.is_live(*which);
        if (tells_a_run && --which->run.open_parts == 0) ended_at_once_.push(*which);
        task_pool::drop(which);
        which = next;
    }
}

/// Whether no callback is called when the task ends: neither its own, nor that of the run whose
/// last member it may be.
[[nodiscard]] static bool ends_unheard(const task& ended) noexcept {
    return !ended.is_member() && (!ended.has_extras() || ended.extras.callback == nullptr);
}

bool progress_engine::start_submitted() noexcept {
    const call_scope here{*this};
    unsigned n_taken = 0;
    // A place before this submitter's may not be filled yet: the thread that fills it also comes
    // here.
    for (task* submitted = submitted_.take(); submitted != nullptr; submitted = submitted_.take()) {
        scheduled_.accept(*submitted);
        if (++n_taken == tuning::steps_in_a_row) break;
    }
    take_handed();
    for (unsigned n_started = 0; scheduled_.has_ready() && n_started < tuning::steps_in_a_row; ++n_started) {
        task& next = scheduled_.first_ready();
        // A run without open members would end here.
        const bool may_start = next.is_run() ? next.run.open_parts > 1 : transport_->may_start_on_submitter(next);
        if (scheduler::is_doomed(next) || !may_start) break;
        static_cast<void>(scheduled_.take_ready());
        if (next.is_run()) {
            start_run(next);
            continue;
        }
        const bool is_in_flight = start(next);
        if (lock.is_abandoned()) return true; // All tasks that are left stay as they are.
        if (is_in_flight) continue;
        // If the task's end calls a callback, the task ends in the next progress call, otherwise
        // here.
        if (ends_unheard(next)) {
            end_by_result(next);
        } else {
            ended_at_once_.push(next);
        }
    }
    start_gathered();
    return n_taken < tuning::steps_in_a_row && !scheduled_.has_ready() && !submitted_.has_early();
}

/// No lock is involved: the thread waits for nothing, and no thread waits for it.
void progress_engine::wait_if_abandoned() noexcept {
    if (!lock.is_abandoned()) return;
    lock.give_back(); // No thread takes it.
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
    if (scheduler::is_doomed(ready)) return finish(ready, task_state::canceled);
    const bool is_in_flight = start(ready);
    wait_if_abandoned();
    if (!is_in_flight) end_by_result(ready);
}

/// @return whether MPI has it in flight; otherwise the result is set
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
    // If the line were first read and then written, it would come twice from the waiting thread: 46
    // ns.
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

void progress_engine::give_up(task& which) noexcept {
    if (which.run.now == phase::in_flight) {
        transport_->abandon(which);
        if (node_ != nullptr && !which.is_run()) node_->ended(which);
    }
    finish(which, task_state::given_up);
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
    failure_sink* const told = state == task_state::completed ? nullptr : failures_;
    if (told != nullptr) [[unlikely]]
        told->before_callback(which, state);
    if (which.has_extras()) run_callback(which, state);
    if (which.may_keep()) transport_->let_go(which);
    if (told != nullptr) [[unlikely]]
        told->after_callback();
    scheduled_.gone(which);
    const bool is_member = which.is_member(); // Then its plan has a reference too.
    if (is_member) scheduler::let_member_go(which);
    if (state == task_state::given_up) {
        // The task's buffers may still be MPI's, and its predecessors may still point to it: the
        // slot is never used again.
        which.run.is_pointed_to = false;
        return graph::finish(which, state, 0, release_to_its_lane, has_other_lanes_);
    }
    // A task that was canceled while it waited is kept until its predecessors, which point to it,
    // hand it in.
    graph::finish(which, state, which.run.is_pointed_to ? 0 : 1, release_to_its_lane, has_other_lanes_);
    if (is_member) tell_run(which, state);
}

} // namespace commtask::detail
