// SPDX-License-Identifier: Apache-2.0
//
// Mprobes that have matched no message, and receives queued behind one, in the order in which the
// tasks started. A task in the list blocks later tasks that could match the same message: otherwise
// a message that arrives between two polls would go to the wrong task. An mprobe blocks all later
// mprobes. It also blocks later receives, unless it is unordered or a call of an unmodified
// program: such a program may probe for any message on one thread and receive a certain message on
// another.
#include "core/operation_traits.hpp"
#include "mpi/errors.hpp"
#include "mpi/many.hpp"
#include "mpi/transport.hpp"

namespace commtask::detail {
namespace {

/// Whether one message could match both operations.
[[nodiscard]] bool match_same_message(const commtask_op& first, const commtask_op& second) noexcept {
    const auto overlap = [](int left, int right, int any) { return left == right || left == any || right == any; };
    if (first.comm != second.comm || !overlap(recv_tag_of(first), recv_tag_of(second), MPI_ANY_TAG)) return false;
    for (const int one : sources_of(first)) {
        for (const int other : sources_of(second)) {
            if (overlap(one, other, MPI_ANY_SOURCE)) return true;
        }
    }
    return false;
}

/// Whether a task in the list blocks a later task.
[[nodiscard]] bool bars(const task& earlier, const task& later) noexcept {
    const bool is_ordered = (earlier.flags() & COMMTASK_UNORDERED) == 0 && (earlier.flags() & flag_is_call) == 0;
    const bool blocks = !is_probe(operation_of(earlier.op.kind)) || is_probe(operation_of(later.op.kind)) || is_ordered;
    return blocks && match_same_message(earlier.op, later.op);
}

[[nodiscard]] bool is_barred(const task& later, const task_list& earlier) noexcept {
    for (const task* each = earlier.first(); each != nullptr; each = each->next_in_list) {
        if (bars(*each, later)) return true;
    }
    return false;
}

} // namespace

/// Whether a task that starts must queue its receive behind a probe.
bool mpi_transport::must_queue(const task& which) const noexcept {
    const operation_traits& kind = operation_of(which.op.kind);
    const bool has_receive = kind.has_source && kind.has_recv_side && which.op.source != MPI_PROC_NULL;
    return (has_receive || kind.has_sources) && is_barred(which, unmatched_);
}

void mpi_transport::poll_unmatched(completion_sink& sink) noexcept {
    task_list polled = unmatched_.take_all();
    task_list ended;
    while (task* const which = polled.pop()) {
        switch (poll_unmatched_task(*which, unmatched_)) {
        case unmatched_state::stays: unmatched_.push(*which); break;
        case unmatched_state::is_started: break;
        case unmatched_state::is_over: ended.push(*which); break;
        }
    }
    count_in_flight();
    // Reported last, since a callback may withdraw another task of the list.
    while (task* const which = ended.pop()) sink.part_ended(*which, 0);
}

/// @param earlier  the tasks before `which` that remain in the list
mpi_transport::unmatched_state mpi_transport::poll_unmatched_task(task& which, const task_list& earlier) noexcept {
    const bool is_free = !which.result.is_canceled && !is_barred(which, earlier);
    if (is_probe(operation_of(which.op.kind))) {
        if (!which.result.is_canceled && !(is_free && try_match_probe(which))) return unmatched_state::stays;
        --n_probes_;
        return unmatched_state::is_over;
    }
    if (!which.result.is_canceled && !is_free) return unmatched_state::stays;
    if (is_free && start_receive_of(which)) return unmatched_state::is_started;
    // The receive ends without having been started; the sends of the task continue.
    if (operation_of(which.op.kind).has_sources) {
        return drop_queued_receives(which) ? unmatched_state::is_over : unmatched_state::is_started;
    }
    remove(which.run.status_request_at);
    return unmatched_state::is_over;
}

/// @return whether the mprobe has ended: it has matched a message, or MPI returned an error
bool mpi_transport::try_match_probe(task& which) noexcept {
    int is_there = 0;
    MPI_Status status{};
    const errors_return errors;
    const int code = errors.code_of(MPI_Improbe(which.op.source, which.op.recv_tag, which.op.comm, &is_there,
                                                static_cast<MPI_Message*>(which.op.result), &status));
    if (code != MPI_SUCCESS) {
        take_error(which, code);
    } else if (is_there != 0) {
        take_status(which, status);
    }
    return code != MPI_SUCCESS || is_there != 0;
}

/// Starts a queued receive that is no longer blocked. @return whether MPI has started it
bool mpi_transport::start_receive_of(task& which) noexcept {
    const int code = operation_of(which.op.kind).has_sources
                         ? start_queued_receives(which)
                         : start_queued_receive(which.op, &requests_[which.run.status_request_at]);
    if (code == MPI_SUCCESS) return true;
    take_error(which, code);
    // cancels the receives that were started
    if (operation_of(which.op.kind).has_sources) withdraw_many(which);
    return false;
}

} // namespace commtask::detail
