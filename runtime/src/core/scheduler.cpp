// SPDX-License-Identifier: Apache-2.0
//
// A task that becomes ready while another task completes goes to the ready list. With recursion, a
// long chain of tasks would overflow the stack.
#include "core/scheduler.hpp"

#include "base/system.hpp"
#include "core/comm_queue.hpp"
#include "core/graph.hpp"

#include <utility>

namespace commtask::detail {

std::uint64_t scheduler::call_time() noexcept {
    if (call_ns_ == 0) call_ns_ = now_ns();
    return call_ns_;
}

void scheduler::notify_observers(task& which, phase from, phase to, task_state end) noexcept {
    const life_step step{from, to, end, from == phase::posted ? which.posted_ns : which.run.since_ns, call_time()};
    which.run.since_ns = step.at_ns;
    if (to == phase::in_flight) which.run.sent_bytes = transport_->given_bytes(which.op);
    for (task_observer* const observer : observers_) observer->moved(which, step);
}

void scheduler::accept(task& submitted) noexcept {
    submitted.run = {};
    submitted.run.number = ++n_accepted_;
    submitted.live_in.store(this, std::memory_order_relaxed);
    count_one(n_live_);
    if (submitted.has_handler()) count_one(n_handlers_);
    if (submitted.is_member() || (submitted.has_extras() && submitted.extras.n_predecessors > 0)) {
        submitted.run.is_pointed_to = true;
        if (graph::link_predecessors(submitted)) submitted.run.is_pointed_to = false;
    }
    if (submitted.run.is_pointed_to) {
        move(submitted, phase::posted, phase::waiting);
        submitted.run.accepted_ns = call_time();
        if (is_marked(submitted, mark_cancel)) cancel(submitted);
    } else {
        make_ready(submitted, phase::posted);
    }
    const bool must_wait = submitted.run.now == phase::waiting || submitted.run.now == phase::awaiting_turn;
    if (must_wait && (submitted.flags() & flag_keeps_at_accept) != 0) [[unlikely]]
        transport_->keep(submitted);
}

void scheduler::released(task& which) noexcept {
    if (!std::exchange(which.run.is_pointed_to, false)) return;
    if (which.run.now == phase::waiting) {
        make_ready(which, phase::waiting);
    } else if (!is_live(which)) {
        task_pool::drop(&which);
    }
}

bool scheduler::is_marked(const task& which, std::uint32_t mark) noexcept {
    // acquire: partner of the acq_rel in lane::mark() and graph::finish(); the mark of a failed
    // predecessor was stored before the last count-down.
    return (which.marks.load(std::memory_order_acquire) & mark) != 0;
}

bool scheduler::must_not_start(const task& which) noexcept {
    const bool runs_after_failure = (which.flags() & COMMTASK_RUN_AFTER_FAILURE) != 0;
    return is_marked(which, runs_after_failure ? mark_cancel : mark_cancel | mark_predecessor_failed);
}

void scheduler::cancel(task& which) noexcept {
    if (!is_live(which)) return;
    switch (which.run.now) {
    case phase::in_flight: return which.is_run() ? cancel_members(which) : transport_->withdraw(which);
    case phase::waiting: return make_ready(which, phase::waiting);
    case phase::awaiting_turn:
        // A canceled task does not wait for its turn, which may never come.
        return leave_order(which, phase::awaiting_turn);
    case phase::posted:
    case phase::ready: // the engine reads the marks before it starts a task
    case phase::ended:
    case phase::dropped: return;
    }
}

/// The task waits for no predecessor, or must be canceled. The task becomes ready, or awaits its
/// turn if it has one.
void scheduler::make_ready(task& which, phase from) noexcept {
    if (which.is_run()) return make_run_ready(which, from);
    if (!which.has_extras() || which.extras.its_turn == nullptr) return enqueue_ready(which, from);
    if (must_not_start(which)) return leave_order(which, from); // The task ends at once.
    move(which, from, phase::awaiting_turn);
    task_list started;
    which.queue->order.arrive(*which.extras.its_turn, which, started);
    while (task* const next = started.pop()) enqueue_ready(*next, phase::awaiting_turn);
    if (which.run.now == phase::awaiting_turn && which.run.accepted_ns == 0) which.run.accepted_ns = call_time();
}

/// The task will not start, so it leaves the program order without waiting for its turn.
void scheduler::leave_order(task& which, phase from) noexcept {
    task_list started;
    which.queue->order.leave(*std::exchange(which.extras.its_turn, nullptr), started);
    enqueue_ready(which, from);
    while (task* const next = started.pop()) enqueue_ready(*next, phase::awaiting_turn);
}

void scheduler::enqueue_ready(task& ready, phase from) noexcept {
    move(ready, from, phase::ready);
    ready_.push(ready);
}

void scheduler::end(task& which, task_state how) noexcept {
    COMMTASK_ASSERT(is_live(which));
    const bool was_started = which.run.now == phase::in_flight;
    // A task without a start is abandoned only while it waits for predecessors or its turn.
    [[maybe_unused]] const bool is_abandoned =
        how == task_state::abandoned && (which.run.now == phase::waiting || which.run.now == phase::awaiting_turn);
    COMMTASK_ASSERT(was_started || which.run.now == phase::ready || is_abandoned);
    move(which, which.run.now, was_started ? phase::ended : phase::dropped, how);
    which.live_in.store(nullptr, std::memory_order_relaxed);
    count_one(n_ended_);
}

void scheduler::remove(const task& which) noexcept {
    count_one(n_live_, -1);
    if (which.has_handler()) count_one(n_handlers_, -1);
}

} // namespace commtask::detail
