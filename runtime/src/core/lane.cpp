// SPDX-License-Identifier: Apache-2.0
//
// The progress logic. Tasks that become ready while others are being completed go through a list instead of through
// recursion, so a chain of any length needs no stack. Completion order within a task: status, callback, state,
// successors; once the state is final, the runtime does not touch the caller's memory again.
#include "core/lane.hpp"

#include "base/speech.hpp"
#include "base/tuning.hpp"
#include "core/lane_driving.hpp"
#include "core/task_pool.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include <sched.h>

namespace commtask::detail {
namespace {

void count_one(std::atomic<std::uint64_t>& counter, std::int64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(by), std::memory_order_relaxed);
}

} // namespace

lane::lane(transport& carrier, waiting_room& waiters, const lane_settings& settings)
    : wake_up(settings.has_heavy_barrier, settings.doorbell), transport_(&carrier), waiters_(&waiters),
      settings_(settings), submitted_(settings.queue_capacity, settings.has_heavy_barrier),
      callbacks_(settings.warns ? settings.callback_limit_ns : 0) {}

lane::refused_waits::refused_waits(bool are_refused) noexcept : before_(waits_are_refused) {
    waits_are_refused = waits_are_refused || are_refused;
}
lane::refused_waits::~refused_waits() { waits_are_refused = before_; }

bool lane::is_driving() noexcept { return driven_by_me != nullptr; }
bool lane::may_wait() noexcept { return !is_driving() && !waits_are_refused; }

void lane::released(task& which) noexcept {
    if (driven_by_me == this) return on_released(which);
    hand_over(which, mark_released);
}

void lane::cancel(task& which) noexcept {
    if (driven_by_me == this) {
        which.marks.fetch_or(mark_cancel, std::memory_order_relaxed); // this thread alone will look
        return on_cancel(which);
    }
    hand_over(which, mark_cancel);
}

void lane::request_report(const char* heading) noexcept {
    report_heading_.store(heading, std::memory_order_relaxed); // published by the next
    report_requested_.store(true, std::memory_order_seq_cst);
    wake_up.wake();
}

void lane::begin_pass() noexcept {
    ended_in_pass_ = 0;
    pass_ns_ = 0;
}

void lane::end_pass() noexcept {
    if (ended_in_pass_ > 0) waiters_->announce();
    publish_what_is_left();
}

/// Before anything is taken out: who looks must not find this lane quiet while it has a task in hand.
void lane::take_back_drained() noexcept {
    if (!was_drained_.load(std::memory_order_relaxed)) return;
    was_drained_.store(false, std::memory_order_relaxed);
    // Partner of the fence in was_quiet(): who sees that something was taken out sees that this is no longer drained.
    std::atomic_thread_fence(std::memory_order_release);
}

bool lane::was_quiet() const noexcept {
    if (has_arrivals()) return false;
    // Partner of the fence in take_back_drained().
    std::atomic_thread_fence(std::memory_order_acquire);
    return was_drained();
}

bool lane::progress() noexcept {
    count_one(n_passes_);
    take_back_drained();
    task* posted = submitted_.take();
    const bool has_others = submitted_.has_handed() || has_put_away() || submitted_.has_kept() ||
                            (settings_.node != nullptr && settings_.node->has_unsent()) ||
                            report_requested_.load(std::memory_order_relaxed) ||
                            drain_.load(std::memory_order_relaxed) != drain_watch::none;
    if (posted == nullptr && !has_others && transport_->in_flight() == 0 && !is_attentive()) {
        tell(trace::thread_state::idle);
        return false;
    }

    const driving_scope driving{*this};
    begin_pass();
    bool moved = posted != nullptr || submitted_.has_handed() || has_put_away();
    tell(moved ? trace::thread_state::issue : trace::thread_state::poll);
    for (int n_taken = 0; posted != nullptr;) {
        accept(*posted);
        posted = ++n_taken < tuning::tasks_per_pass ? submitted_.take() : nullptr;
    }
    take_handed();
    issue_ready();
    const bool has_polled = transport_->in_flight() > 0;
    if (has_polled) {
        transport_->poll(*this);
        stay_if_abandoned();
        issue_ready();
    }
    if (!(has_polled && transport_->has_made_progress()) && is_attentive()) transport_->make_progress();
    // acquire: partner of the store in request_report(); the heading comes with it.
    if (report_requested_.load(std::memory_order_acquire)) {
        report_requested_.store(false, std::memory_order_seq_cst);
        if (!say_unfinished(report_heading_.load(std::memory_order_relaxed))) say("no task is unfinished");
    }
    if (ended_in_pass_ > 0) waiters_->announce();
    moved = moved || ended_in_pass_ > 0;
    if (settings_.node != nullptr) [[unlikely]]
        settings_.node->polled();
    const bool says_what_is_left = drain_.load(std::memory_order_relaxed) != drain_watch::none;
    // Those whose turn has not come are seen by nobody but who drives.
    if (moved || submitted_.has_kept() || says_what_is_left || settings_.node != nullptr) publish_what_is_left();
    return moved;
}

void lane::attend_for_a_moment() noexcept {
    if (!attends_windows()) return; // a leader that listens needs one look
    const driving_scope driving{*this};
    for (int i = 0; i < tuning::looks_when_attentive && !lock.has_callers() && !submitted_.could_take(); ++i) {
        transport_->make_progress();
    }
}

void lane::look_at(task& which) noexcept {
    if (transport_->has_polled_all() || !is_live(which) || which.run.now != phase::in_flight) return;
    const driving_scope driving{*this};
    take_back_drained();
    begin_pass();
    transport_->poll_one(which, *this);
    issue_ready();
    end_pass();
}

void lane::take_in() noexcept {
    if (!submitted_.has_posted() && !submitted_.has_early()) return;
    const driving_scope driving{*this};
    take_back_drained();
    begin_pass();
    take_in_posted();
    end_pass();
}

void lane::take_in_all() noexcept {
    if (submitted_.is_empty() && !submitted_.has_early() && !has_put_away()) return;
    tell(trace::thread_state::issue);
    const driving_scope driving{*this};
    take_back_drained();
    begin_pass();
    take_in_posted();
    take_handed();
    issue_ready();
    end_pass();
}

void lane::take_in_posted() noexcept {
    while (submitted_.has_posted() || submitted_.has_early()) {
        // A place that was taken is filled at once.
        if (task* const posted = submitted_.take()) {
            accept(*posted);
        } else {
            pause_briefly();
        }
    }
}

bool lane::could_still_move(task_filter chosen) noexcept {
    if (has_arrivals() || submitted_.has_early() || !ended_at_once_.is_empty()) return true;
    const unfinished_count before = count_unfinished(chosen);
    if (before.ready > 0) return true;
    if (transport_->in_flight() == 0) return false;
    const driving_scope driving{*this};
    begin_pass();
    transport_->poll(*this);
    end_pass();
    const unfinished_count after = count_unfinished(chosen);
    return after.all != before.all || after.ready > 0 || has_arrivals();
}

void lane::give_up(task_filter chosen) noexcept {
    const driving_scope driving{*this};
    begin_pass();
    // Looked for twice, since a list would ask for memory. What callbacks post is not among them before the next pass.
    for_each_live(chosen, [this](task& which) {
        if (which.run.now != phase::in_flight) cancel(which);
    });
    issue_ready();
    for_each_live(chosen, [this](task& which) {
        if (which.run.now == phase::ready) return; // a callback has canceled it
        if (which.run.now == phase::in_flight) {
            transport_->abandon(which);
            if (settings_.node != nullptr && !which.is_run()) settings_.node->ended(which);
        }
        finish(which, task_state::given_up);
    });
    issue_ready();
    waiters_->announce();
    publish_what_is_left();
}

/// Not a lock: it waits for nothing, and nothing waits for it.
void lane::stay_if_abandoned() noexcept {
    if (!lock.is_abandoned()) return;
    lock.give_back(); // nobody takes it
    for (const std::atomic<std::uint32_t> never{0};;) sleep_while_equal(never, 0, -1);
}

void lane::publish_what_is_left() noexcept {
    const bool work_left = has_work();
    // relaxed: who leaves work to a worker that may sleep rings.
    if (work_left != has_work_.load(std::memory_order_relaxed)) has_work_.store(work_left, std::memory_order_relaxed);
    // acquire: partner of the store in watch_drain(); what was posted before it is seen here.
    const drain_watch watch = drain_.load(std::memory_order_acquire);
    if (watch == drain_watch::none) return;
    // A question that is asked between these two is answered by this pass, or by the next one.
    if (watch == drain_watch::asked) drain_.store(drain_watch::answering, std::memory_order_relaxed);
    // Announcements may be left: what they tell of has ended, and a leader that takes none must not keep this rank.
    const bool is_drained = !has_tasks() && approx_live() == 0 && submitted_.is_empty();
    if (is_drained == was_drained_.load(std::memory_order_relaxed)) return;
    // release: partner of the acquire in was_drained(); whoever sees it sees what all tasks did.
    was_drained_.store(is_drained, std::memory_order_release);
    if (is_drained) waiters_->announce();
}

/// The clock, read once in a pass that asks for it.
std::uint64_t lane::pass_time() noexcept {
    if (pass_ns_ == 0) pass_ns_ = now_ns();
    return pass_ns_;
}

/// The one way from phase to phase.
/// @param end  how the task ends, if `to` is final
void lane::move(task& which, phase from, phase to, task_state end) noexcept {
    COMMTASK_ASSERT(which.run.now == from);
    which.run.now = to;
    if (!settings_.observers.empty()) tell_observers(which, from, to, end);
}

void lane::tell_observers(task& which, phase from, phase to, task_state end) noexcept {
    const life_step step{from, to, end, from == phase::posted ? which.posted_ns : which.run.since_ns, pass_time()};
    which.run.since_ns = step.at_ns;
    if (to == phase::in_flight) which.run.sent_bytes = transport_->given_bytes(which.op);
    for (task_observer* const observer : settings_.observers) observer->moved(which, step);
}

void lane::accept(task& posted) noexcept {
    posted.run = {};
    posted.run.number = ++n_accepted_;
    posted.live_in.store(this, std::memory_order_relaxed);
    count_one(n_live_);
    if (posted.stands()) count_one(n_standing_);
    if (posted.is_member() || (posted.has_extras() && posted.extras.n_predecessors > 0)) {
        posted.run.is_pointed_to = true;
        if (graph::link_predecessors(posted)) posted.run.is_pointed_to = false;
    }
    if (posted.run.is_pointed_to) {
        move(posted, phase::posted, phase::waiting);
        posted.run.accepted_ns = pass_time();
        if (is_marked(posted, mark_cancel)) on_cancel(posted);
    } else {
        make_ready(posted, phase::posted);
    }
    const bool must_wait = posted.run.now == phase::waiting || posted.run.now == phase::held;
    if (must_wait && (posted.flags() & flag_keeps_at_accept) != 0) [[unlikely]]
        transport_->keep(posted);
}

/// The last predecessor is done. Its task may be final, if it did not wait for that.
void lane::on_released(task& which) noexcept {
    if (!std::exchange(which.run.is_pointed_to, false)) return;
    if (which.run.now == phase::waiting) {
        make_ready(which, phase::waiting);
    } else if (!is_live(which)) {
        task_pool::drop(&which);
    }
}

bool lane::is_marked(const task& which, std::uint32_t mark) noexcept {
    // acquire: partner of the acq_rel in hand_over(); the mark of a failed predecessor came with the last count.
    return (which.marks.load(std::memory_order_acquire) & mark) != 0;
}

bool lane::is_doomed(const task& which) noexcept {
    const bool runs_after_failure = (which.flags() & COMMTASK_RUN_AFTER_FAILURE) != 0;
    return is_marked(which, runs_after_failure ? mark_cancel : mark_cancel | mark_predecessor_failed);
}

/// Somebody wants it canceled, and has said so in its marks. One that the lane has not seen is looked at by accept().
void lane::on_cancel(task& which) noexcept {
    if (!is_live(which)) return;
    switch (which.run.now) {
    case phase::in_flight: return which.is_run() ? cancel_members(which) : transport_->withdraw(which);
    case phase::waiting: return make_ready(which, phase::waiting);
    case phase::held:
        // It must not wait for its turn to be canceled: the turn may never come.
        return leave_order(which, phase::held);
    case phase::posted:
    case phase::ready: // issue() looks at the marks
    case phase::ended:
    case phase::dropped: return;
    }
}

/// A task that waits for no predecessor, or must be canceled: it starts in its turn, if it has one.
void lane::make_ready(task& which, phase from) noexcept {
    if (which.is_run()) return make_run_ready(which, from);
    if (!which.has_extras() || which.extras.its_turn == nullptr) return enqueue_ready(which, from);
    if (is_doomed(which)) return leave_order(which, from); // it ends at once
    move(which, from, phase::held);
    task_list started;
    which.queue->order.arrive(*which.extras.its_turn, which, started);
    while (task* const next = started.pop()) enqueue_ready(*next, phase::held);
    if (which.run.now == phase::held && which.run.accepted_ns == 0) which.run.accepted_ns = pass_time();
}

/// A task that will not start gives its turn up, and is not held up by it.
void lane::leave_order(task& which, phase from) noexcept {
    task_list started;
    which.queue->order.leave(*std::exchange(which.extras.its_turn, nullptr), started);
    enqueue_ready(which, from);
    while (task* const next = started.pop()) enqueue_ready(*next, phase::held);
}

void lane::enqueue_ready(task& ready, phase from) noexcept {
    move(ready, from, phase::ready);
    ready_.push(ready);
}

void lane::issue_ready() noexcept {
    // What ended before the eyes of a poster, which runs no callbacks.
    while (task* const next = ended_at_once_.pop()) end_by_result(*next);
    while (task* const next = ready_.pop()) issue(*next);
    start_gathered();
}

void lane::start_gathered() noexcept {
    if (transport_->has_gathered()) transport_->start_gathered();
    if (settings_.node != nullptr) [[unlikely]]
        settings_.node->started_gathered();
}

void lane::issue(task& ready) noexcept {
    if (ready.is_run()) return issue_run(ready);
    if (is_doomed(ready)) return finish(ready, task_state::canceled);
    const bool is_in_flight = start(ready);
    stay_if_abandoned();
    if (!is_in_flight) end_by_result(ready);
}

/// @return whether MPI has it in flight; otherwise the result is set
bool lane::start(task& ready) noexcept {
    move(ready, phase::ready, phase::in_flight);
    starting_kind_.store(ready.op.kind, std::memory_order_relaxed);
    if (settings_.node != nullptr) [[unlikely]]
        settings_.node->starting(ready);
    const start_result result = transport_->start(ready);
    starting_kind_.store(0, std::memory_order_relaxed);
    if (settings_.node != nullptr && result != start_result::failed) [[unlikely]]
        settings_.node->started(ready, transport_->has_gathered());
    if (result != start_result::started) return false;
    if (ready.run.accepted_ns == 0) ready.run.accepted_ns = pass_time();
    return true;
}

void lane::part_ended(task& which, std::uint32_t /*part*/) noexcept {
    COMMTASK_ASSERT(which.run.open_parts > 0);
    if (--which.run.open_parts > 0) return;
    if (settings_.node != nullptr && !which.is_run()) [[unlikely]]
        settings_.node->ended(which);
    // Read first and written then, the line would come twice from the thread that waits: 46 ns.
    prefetch_for_write(&which.life);
    end_by_result(which);
}

void lane::end_by_result(task& which) noexcept {
    if (which.is_run()) end_run(which);
    if ((which.flags() & flag_has_noted_lists) != 0) [[unlikely]]
        transport_->compare_lists(which);
    if (which.result.error != 0) return finish(which, task_state::failed);
    finish(which, which.result.is_canceled ? task_state::canceled : task_state::completed);
}

void lane::finish(task& which, task_state state) noexcept {
    COMMTASK_ASSERT(is_live(which));
    tell(trace::thread_state::issue);
    if (which.run.now == phase::in_flight) {
        transport_->clean_up(which);
        move(which, phase::in_flight, phase::ended, state);
    } else {
        // What waits, or is held, is given up alone.
        [[maybe_unused]] const bool is_given_up =
            state == task_state::given_up && (which.run.now == phase::waiting || which.run.now == phase::held);
        COMMTASK_ASSERT(which.run.now == phase::ready || is_given_up);
        std::memset(which.mpi_status, 0, sizeof which.mpi_status);
        move(which, which.run.now, phase::dropped, state);
    }
    which.live_in.store(nullptr, std::memory_order_relaxed);
    ++ended_in_pass_;
    count_one(n_ended_);
    failure_sink* const told = state == task_state::completed ? nullptr : settings_.failures;
    if (told != nullptr) [[unlikely]]
        told->before_callback(which, state);
    if (which.has_extras()) run_callback(which, state);
    if (which.may_keep()) transport_->let_go(which);
    if (told != nullptr) [[unlikely]]
        told->after_callback();
    count_one(n_live_, -1);
    if (which.stands()) count_one(n_standing_, -1);
    const bool is_member = which.is_member(); // then its plan has a reference too
    if (is_member) let_member_go(which);
    if (state == task_state::given_up) {
        // Its buffers may still be MPI's and its predecessors may still point to it: the slot is never used again.
        which.run.is_pointed_to = false;
        return graph::finish(which, state, 0, release_to_its_lane, settings_.n_lanes > 1);
    }
    // One that was canceled while it waited is kept until its predecessors, which point to it, hand it in.
    graph::finish(which, state, which.run.is_pointed_to ? 0 : 1, release_to_its_lane, settings_.n_lanes > 1);
    if (is_member) tell_run(which, state);
}

} // namespace commtask::detail
