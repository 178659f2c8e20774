// SPDX-License-Identifier: Apache-2.0
//
// Posts in program order, and tickets, which reserve a position in program order before the
// operation is posted. An unused position would block later operations, so everything that can be
// refused is refused before a position is taken.
#include "api/failures.hpp"
#include "api/plan_start.hpp"
#include "api/post_window.hpp"
#include "api/posting.hpp"
#include "api/striping.hpp"
#include "base/last_error.hpp"

namespace commtask::detail {
namespace {

[[nodiscard]] int refuse_used_ticket(const commtask_ticket& ticket) noexcept {
    return refuse(COMMTASK_ERR_ARGUMENT, "ticket %llu was used or dropped before, or never taken",
                  static_cast<unsigned long long>(ticket.number));
}

[[nodiscard]] int take_ticket(const commtask_op* operation, const commtask_options* options,
                              commtask_ticket* ticket) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (operation == nullptr || ticket == nullptr) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", operation == nullptr ? "operation" : "ticket");
    }
    commtask_op op = *operation;
    const operation_traits& kind = operation_of(op.kind);
    const std::uint32_t flags = options != nullptr ? options->flags : COMMTASK_NONE;
    if (!can_have_turn(kind, flags)) { // the operation's post checks the rest
        *ticket = {};
        return COMMTASK_OK;
    }
    if (starts_plan(op)) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "a plan takes the turns of its members when it is started, so it needs no ticket");
    }
    int code = give_channel(*runtime, op);
    if (code != COMMTASK_OK) return code;
    comm_queue* queue = runtime->queue_of(op.comm, code);
    if (queue == nullptr) return code;
    if (queue->striping() != nullptr) {
        if (code = find_way(op, nullptr, queue); code != COMMTASK_OK) return code;
    }
    if (code = check_post(*runtime, op, options, *queue); code != COMMTASK_OK) return code;
    if (kind.has_partitions) return refuse_single_partitions(kind);
    std::uint64_t number = 0;
    if (code = take_place(*runtime, op, flags, source_of(options), *queue, number); code != COMMTASK_OK) return code;
    *ticket = {};
    if (number != 0) *ticket = {number, static_cast<std::uint32_t>(kind.ordered_in), queue->number};
    return COMMTASK_OK;
}

/// A canceled task carries the ticket to its lane, and the lane releases the tasks that waited for
/// the ticket's position.
[[nodiscard]] int drop_place(context& runtime, comm_queue& queue, const commtask_ticket& ticket) noexcept {
    const commtask_op nothing = commtask_op_noop(queue.comm);
    posting made{runtime, nothing, nullptr, queue, nullptr};
    if (const int code = made.begin(); code != COMMTASK_OK) return code;
    turn* const dropped = queue.order.use(ticket.number);
    if (dropped == nullptr) return refuse_used_ticket(ticket);
    made.flags |= flag_has_extras;
    static_cast<void>(made.write()); // no arguments are kept
    made.slot().extras.its_turn = dropped;
    // Published by the submission queue.
    made.slot().marks.store(mark_cancel, std::memory_order_relaxed);
    queue.served_by->post(made.slot());
    settle_place(runtime, queue.comm, ticket.number, false);
    made.was_posted(true);
    return COMMTASK_OK;
}

} // namespace

int check_ticket(const commtask_ticket& ticket, const comm_queue& queue) noexcept {
    if (ticket.queue == queue.number) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "ticket is not a ticket of %s", queue.name.c_str());
}

int post_in_order(posting& made) noexcept {
    if (const int code = made.begin(); code != COMMTASK_OK) return code;
    if (can_have_turn(made.kind, made.flags)) {
        if (const int code = made.make_turn(made.flags); code != COMMTASK_OK) return code;
    }
    const int code = made.write();
    return code == COMMTASK_OK ? made.hand_over() : code;
}

int post_with_ticket(posting& made, const commtask_ticket& ticket) noexcept {
    if (const int code = made.begin(); code != COMMTASK_OK) return code;
    if (const int code = made.write(); code != COMMTASK_OK) return code;
    program_order& order = made.queue.order;
    lane& to = *made.queue.served_by;
    turn* const its = order.use(ticket.number);
    if (its == nullptr) return refuse_used_ticket(ticket);
    made.slot().extras.its_turn = its;
    if (made.may_wait()) {
        to.post(made.slot());
    } else if (!to.try_post(made.slot())) {
        order.take_back_use(*its);
        return refuse(COMMTASK_AGAIN, "the queue is full");
    }
    made.was_posted(true);
    if (made.kind.takes_window) settle_place(made.runtime, made.op.comm, ticket.number, true);
    return COMMTASK_OK;
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_ticket_take_with(const commtask_op* operation, const commtask_options* options,
                              commtask_ticket* ticket) noexcept {
    const int code = take_ticket(operation, options, ticket);
    return code < COMMTASK_AGAIN ? name_refused(code, operation) : code;
}

int commtask_ticket_take(const commtask_op* operation, commtask_ticket* ticket) noexcept {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.flags = COMMTASK_ORDERED;
    return commtask_ticket_take_with(operation, &options, ticket);
}

int commtask_ticket_drop(MPI_Comm comm, commtask_ticket ticket) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (ticket.number == 0 || ticket.class_ > static_cast<std::uint32_t>(order_class::collectives)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "ticket was not returned by commtask_ticket_take");
    }
    int code = COMMTASK_OK;
    // The caller of a window's ticket does not know the window's communicator.
    comm_queue* const windows_queue = comm == MPI_COMM_NULL ? runtime->comms().find_by_number(ticket.queue) : nullptr;
    comm_queue* queue = windows_queue != nullptr ? windows_queue : runtime->queue_of(comm, code);
    if (queue == nullptr) return code;
    queue = &queue_of_ticket(*queue, ticket);
    if (code = check_ticket(ticket, *queue); code != COMMTASK_OK) return code;
    return drop_place(*runtime, *queue, ticket);
}
