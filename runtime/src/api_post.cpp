// SPDX-License-Identifier: Apache-2.0
//
// Posting. The way without options writes two lines of the task, its shared line and one cell of the inbox, and loads
// nothing that the worker writes. A wrong argument is refused before a slot is taken, so nothing needs to be undone.
#include "arguments.hpp"
#include "context.hpp"
#include "last_error.hpp"
#include "mpi_start.hpp"
#include "task_pool.hpp"

#include <commtask/commtask.h>

#include <cstring>
#include <new>

namespace commtask::detail {
namespace {

constexpr std::uint32_t public_flags =
    COMMTASK_ORDERED | COMMTASK_UNORDERED | COMMTASK_TRY | COMMTASK_RUN_AFTER_FAILURE | COMMTASK_PROGRESS_FOLLOWS;

[[nodiscard]] int check_options(const commtask_options& options, const operation_entry& operation) noexcept {
    if (options.struct_size < offsetof(commtask_options, ticket)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->struct_size is %zu: start from COMMTASK_OPTIONS_INIT",
                      options.struct_size);
    }
    if ((options.flags & ~public_flags) != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->flags has unknown bits: 0x%x", options.flags & ~public_flags);
    }
    if ((options.flags & COMMTASK_ORDERED) != 0 && (options.flags & COMMTASK_UNORDERED) != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->flags asks for COMMTASK_ORDERED and COMMTASK_UNORDERED");
    }
    if ((options.n_after > 0 && options.after == nullptr) || (options.n_events > 0 && options.events == nullptr)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->after or options->events is null and its number is not 0");
    }
    if (options.status != nullptr && options.status->struct_size == 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->status->struct_size is 0: start from COMMTASK_STATUS_INIT");
    }
    if (options.ticket.number != 0 && options.ticket.class_ != static_cast<std::uint32_t>(*operation.ordered_in)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->ticket was taken for another kind of operation");
    }
    return COMMTASK_OK;
}

[[nodiscard]] std::uint32_t count_predecessors(const commtask_options& options) noexcept {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < options.n_after; ++i) count += options.after[i] != COMMTASK_NULL ? 1U : 0U;
    for (std::size_t i = 0; i < options.n_events; ++i) count += options.events[i] != COMMTASK_EVENT_NULL ? 1U : 0U;
    return count;
}

/// Room for the edges of this task; kept with the slot, so it is allocated once per slot and size.
[[nodiscard]] bool make_room_for_edges(task& slot, std::uint32_t count) noexcept {
    if (count == 0 || count <= slot.edge_capacity) return true; // without edges their line is not even loaded
    try {
        slot.predecessors = std::make_unique<task*[]>(count);
        slot.edges = std::make_unique<edge[]>(count);
        slot.edge_capacity = count;
    } catch (const std::bad_alloc&) {
        slot.edge_capacity = 0;
        return false;
    }
    return true;
}

/// Writes the options into the slot and takes a reference on each predecessor.
void fill_extras(task& slot, const commtask_options& options, std::uint32_t n_predecessors) noexcept {
    slot.extras = {options.callback, options.callback_argument, options.status, 0, 0, n_predecessors};
    std::uint32_t next = 0;
    const auto add = [&](task* predecessor) {
        if (predecessor == nullptr) return;
        predecessor->life.take_reference();
        slot.predecessors[next] = predecessor;
        ++next;
    };
    for (std::size_t i = 0; i < options.n_after; ++i) add(options.after[i]);
    for (std::size_t i = 0; i < options.n_events; ++i) add(options.events[i]);
}

/// The part of a post that is the same with and without options. Takes a reference for the handle if there is one.
void fill_slot(task& slot, const commtask_op& op, comm_queue& queue, std::uint32_t flags, bool has_handle) noexcept {
    slot.op = op;
    slot.op.reserved = static_cast<int>(flags);
    slot.queue = &queue;
    // relaxed throughout: the inbox publishes the slot.
    slot.life.begin(has_handle ? 2 : 1);
    slot.result = {};
    slot.waiting_for.store(0, std::memory_order_relaxed);
    slot.marks.store(0, std::memory_order_relaxed);
    slot.successors.store(nullptr, std::memory_order_relaxed);
}

void undo_extras(task& slot) noexcept {
    for (std::uint32_t i = 0; i < slot.extras.n_predecessors; ++i) task_pool::drop(slot.predecessors[i]);
}

/// The request of an attach moves into the slot; the caller's variable becomes null when the post has succeeded.
void store_request(task& slot, const commtask_op& op) noexcept {
    static_assert(sizeof(MPI_Request) <= sizeof slot.mpi_status);
    std::memcpy(slot.mpi_status, op.result, sizeof(MPI_Request));
}

/// A task that does nothing goes to a place that nobody else will use. @return false without memory.
[[nodiscard]] bool drop_place(comm_queue& queue, std::uint32_t ticket_class, std::uint64_t ticket) noexcept {
    task* const slot = task_pool::acquire();
    if (slot == nullptr) return false;
    fill_slot(*slot, commtask_op_noop(queue.comm), queue, flag_has_extras, false);
    slot->extras = {nullptr, nullptr, nullptr, ticket, ticket_class, 0};
    slot->posted_ns = now_ns();
    queue.owner->post(*slot);
    return true;
}

[[nodiscard]] int post(context& runtime, const commtask_op& op, const commtask_options* options, commtask_t* task_out) {
    int code = COMMTASK_OK;
    comm_queue* const queue = runtime.queue_of(op.comm, code);
    if (queue == nullptr) return code;
    const int tag_upper_bound = runtime.comms().tag_upper_bound();
    if (!is_plain_message(op, *queue, tag_upper_bound)) {
        if (code = check_arguments(op, *queue, tag_upper_bound); code != COMMTASK_OK) return code;
    }
    const operation_entry& operation = operation_of(op.kind);
    std::uint32_t flags = static_cast<std::uint32_t>(op.reserved) & flag_is_call;
    std::uint32_t n_predecessors = 0;
    if (options != nullptr) {
        if (code = check_options(*options, operation); code != COMMTASK_OK) return code;
        flags |= options->flags | flag_has_extras;
        n_predecessors = count_predecessors(*options);
    }
    const bool has_ticket = options != nullptr && options->ticket.number != 0;
    const bool is_ordered = has_ticket || (flags & COMMTASK_ORDERED) != 0 ||
                            (operation.is_ordered_by_default && (flags & COMMTASK_UNORDERED) == 0);
    if (is_ordered) flags |= flag_has_extras;

    task* const slot = task_pool::acquire();
    if (slot == nullptr || !make_room_for_edges(*slot, n_predecessors)) {
        if (slot != nullptr) task_pool::release(slot);
        return refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for a task");
    }
    const bool keeps_stats = runtime.settings().stats != 0;
    const std::uint64_t begin_ns = keeps_stats ? now_ns() : 0;
    fill_slot(*slot, op, *queue, flags, task_out != nullptr);
    if (options != nullptr) {
        fill_extras(*slot, *options, n_predecessors);
    } else if (is_ordered) {
        slot->extras = {};
    }
    if (n_predecessors > 0) slot->waiting_for.store(n_predecessors + 1, std::memory_order_relaxed);
    if (op.kind == COMMTASK_OP_ATTACH) store_request(*slot, op);
    if (keeps_stats) slot->posted_ns = begin_ns;
    if (is_ordered) {
        const auto order = static_cast<std::uint32_t>(*operation.ordered_in);
        slot->extras.ticket_class = order;
        if (has_ticket) slot->extras.ticket = options->ticket.number;
    }
    const bool takes_place = is_ordered && !has_ticket;
    if ((flags & COMMTASK_TRY) == 0) {
        if (takes_place) slot->extras.ticket = queue->orders[slot->extras.ticket_class].take_ticket();
        queue->owner->post(*slot);
    } else if (!(takes_place ? queue->owner->try_post_ordered(*slot) : queue->owner->try_post(*slot))) {
        undo_extras(*slot);
        task_pool::release(slot);
        return refuse(COMMTASK_AGAIN, "the queue is full");
    }
    if (op.kind == COMMTASK_OP_ATTACH) *static_cast<MPI_Request*>(op.result) = MPI_REQUEST_NULL;
    if (task_out != nullptr) *task_out = static_cast<commtask_t>(slot);
    if (keeps_stats) queue->owner->post_times.add(now_ns() - begin_ns);
    return COMMTASK_OK;
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_post(const commtask_op* operation, const commtask_options* options, commtask_t* task) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (operation == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "operation is null");
    return post(*runtime, *operation, options, task);
}

int commtask_comm_register(MPI_Comm comm) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    int code = COMMTASK_OK;
    return runtime->queue_of(comm, code) != nullptr ? COMMTASK_OK : code;
}

int commtask_ticket_take(const commtask_op* operation, commtask_ticket* ticket) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (operation == nullptr || ticket == nullptr) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", operation == nullptr ? "operation" : "ticket");
    }
    const operation_entry& kind = operation_of(operation->kind);
    if (!kind.ordered_in) return refuse(COMMTASK_ERR_ARGUMENT, "operation has an unknown kind");
    int code = COMMTASK_OK;
    comm_queue* const queue = runtime->queue_of(operation->comm, code);
    if (queue == nullptr) return code;
    // A place that is never used would hold up what comes later, so a wrong argument is found before one is taken.
    if (code = check_arguments(*operation, *queue, runtime->comms().tag_upper_bound()); code != COMMTASK_OK)
        return code;
    const auto order = static_cast<std::uint32_t>(*kind.ordered_in);
    *ticket = {queue->orders[order].take_ticket(), order};
    return COMMTASK_OK;
}

int commtask_ticket_drop(MPI_Comm comm, commtask_ticket ticket) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (ticket.number == 0 || ticket.class_ > static_cast<std::uint32_t>(order_class::collectives)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "ticket is not one that commtask_ticket_take gave");
    }
    int code = COMMTASK_OK;
    comm_queue* const queue = runtime->queue_of(comm, code);
    if (queue == nullptr) return code;
    return drop_place(*queue, ticket.class_, ticket.number)
               ? COMMTASK_OK
               : refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for a task");
}
