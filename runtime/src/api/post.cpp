// SPDX-License-Identifier: Apache-2.0
//
// Posting. The way without options writes two lines of the task, its shared line and one cell of the inbox, and loads
// nothing that the worker writes. A wrong argument is refused before a slot is taken, so nothing needs to be undone.
#include "api/context.hpp"
#include "api/failures.hpp"
#include "api/keeping.hpp"
#include "api/record.hpp"
#include "api/spread.hpp"
#include "base/last_error.hpp"
#include "core/graph.hpp"
#include "core/operation_traits.hpp"
#include "core/plan.hpp"
#include "core/run_posting.hpp"
#include "core/task_pool.hpp"
#include "mpi/arguments.hpp"
#include "mpi/one_sided.hpp"

#include <commtask/commtask.h>

#include <cstring>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

/// A task's references are counted, so there cannot be more.
constexpr std::size_t most_predecessors = (std::size_t{1} << 28U) - 1;

constexpr std::uint32_t public_flags =
    COMMTASK_ORDERED | COMMTASK_UNORDERED | COMMTASK_TRY | COMMTASK_RUN_AFTER_FAILURE | COMMTASK_PROGRESS_FOLLOWS |
    COMMTASK_CALLBACK_RELAYS | COMMTASK_CALLBACK_ONCE | COMMTASK_CALLBACK_STATE | COMMTASK_START_NOW;

/// The ticket of the options, or null.
[[nodiscard]] const commtask_ticket* ticket_of(const commtask_options& options) noexcept {
    const bool has_one = options.struct_size >= offsetof(commtask_options, ticket) + sizeof(commtask_ticket) &&
                         options.ticket.number != 0;
    return has_one ? &options.ticket : nullptr;
}

/// Whether the ticket is still to be used, the program order knows.
[[nodiscard]] int check_ticket(const commtask_ticket& ticket, const comm_queue& queue) noexcept {
    if (ticket.queue == queue.number) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "ticket was taken for another communicator than %s, or by nobody",
                  queue.name.c_str());
}

[[nodiscard]] int refuse_used_ticket(const commtask_ticket& ticket) noexcept {
    return refuse(COMMTASK_ERR_ARGUMENT, "ticket %llu was used or dropped before, or never taken",
                  static_cast<unsigned long long>(ticket.number));
}

[[nodiscard]] int check_options(const commtask_options& options, const operation_traits& operation,
                                const comm_queue& queue) noexcept {
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
    if (operation.takes_plan &&
        ((options.flags & (COMMTASK_ORDERED | COMMTASK_UNORDERED)) != 0 || ticket_of(options))) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options ask for an order, and a plan's members were recorded with theirs");
    }
    if ((options.n_after > 0 && options.after == nullptr) || (options.n_events > 0 && options.events == nullptr)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->after or options->events is null and its number is not 0");
    }
    if (options.status != nullptr && options.status->struct_size == 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->status->struct_size is 0: start from COMMTASK_STATUS_INIT");
    }
    const std::size_t n_predecessors = options.n_after + options.n_events;
    if (n_predecessors > most_predecessors || n_predecessors < options.n_after) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->n_after is %zu and n_events %zu: a task has at most %zu predecessors", options.n_after,
                      options.n_events, most_predecessors);
    }
    const commtask_ticket* const ticket = ticket_of(options);
    if (ticket == nullptr) return COMMTASK_OK;
    if (ticket->class_ != static_cast<std::uint32_t>(operation.ordered_in)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->ticket was taken for another kind of operation");
    }
    return check_ticket(*ticket, queue);
}

[[nodiscard]] std::uint32_t count_predecessors(const commtask_options& options) noexcept {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < options.n_after; ++i) count += options.after[i] != COMMTASK_NULL ? 1U : 0U;
    for (std::size_t i = 0; i < options.n_events; ++i) count += options.events[i] != COMMTASK_EVENT_NULL ? 1U : 0U;
    return count;
}

/// Writes the options into the slot and takes a reference on each predecessor.
void fill_extras(task& slot, const commtask_options& options) noexcept {
    slot.extras = {options.callback, options.callback_argument, options.status, nullptr, 0};
    const auto add = [&](task* predecessor) {
        if (predecessor != nullptr) graph::add_predecessor(slot, *predecessor);
    };
    for (std::size_t i = 0; i < options.n_after; ++i) add(options.after[i]);
    for (std::size_t i = 0; i < options.n_events; ++i) add(options.events[i]);
    if ((slot.flags() & flag_has_source) != 0) slot.source = source_of(options);
}

void undo_extras(task& slot) noexcept {
    for (std::uint32_t i = 0; i < slot.extras.n_predecessors; ++i) task_pool::drop(slot.predecessors[i]);
}

/// The request of an attach moves into the slot; the caller's variable becomes null when the post has succeeded.
void store_request(task& slot, const commtask_op& op) noexcept {
    static_assert(sizeof(MPI_Request) <= sizeof slot.mpi_status);
    std::memcpy(slot.mpi_status, op.result, sizeof(MPI_Request));
}

/// What a trace needs to know of a task before its lane has it.
[[nodiscard]] std::uint64_t begin_trace(task& slot, task_trace* traced) noexcept {
    return slot.trace_id = traced != nullptr ? traced->records().new_id() : 0;
}

/// What a trace hears of a post once it has succeeded.
void trace_post(task_trace& traced, std::uint64_t id, const commtask_op& op, const comm_queue& queue,
                std::uint32_t flags, const commtask_options* options, std::uint64_t begin_ns) noexcept {
    const bool has_predecessors = options != nullptr && options->n_after + options->n_events > 0;
    unsigned said = 0;
    if ((flags & flag_is_call) != 0) said |= trace::posted_by_interposer;
    if ((flags & flag_stands) != 0) said |= trace::posted_to_stand;
    if ((flags & COMMTASK_ORDERED) != 0) said |= trace::posted_in_order;
    if (has_predecessors) said |= trace::posted_after_others;
    traced.posted(id, op, queue, said, begin_ns);
    if (!has_predecessors) return;
    const auto note = [&](const task* predecessor) {
        if (predecessor != nullptr) traced.waits_for(id, predecessor->trace_id);
    };
    for (std::size_t i = 0; i < options->n_after; ++i) note(options->after[i]);
    for (std::size_t i = 0; i < options->n_events; ++i) note(options->events[i]);
}

/// A canceled task brings the ticket to its lane, which lets those go on that have waited for it.
[[nodiscard]] int drop_place(context& runtime, MPI_Comm comm, comm_queue& queue,
                             const commtask_ticket& ticket) noexcept {
    task* const slot = task_pool::acquire();
    if (slot == nullptr) return refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for a task");
    turn* const dropped = queue.order.use(ticket.number);
    if (dropped == nullptr) {
        task_pool::release(slot);
        return refuse_used_ticket(ticket);
    }
    slot->begin_operation(commtask_op_noop(comm), queue, flag_has_extras, 1);
    slot->extras = {nullptr, nullptr, nullptr, dropped, 0};
    slot->marks.store(mark_cancel, std::memory_order_relaxed); // the submission queue publishes it
    task_trace* const traced = runtime.trace_if_kept();
    const std::uint64_t begin_ns = slot->posted_ns = now_ns();
    const std::uint64_t id = begin_trace(*slot, traced);
    queue.served_by->post(*slot);
    runtime.settle_ticket(comm, ticket.number, false);
    if (traced != nullptr) trace_post(*traced, id, commtask_op_noop(comm), queue, COMMTASK_ORDERED, nullptr, begin_ns);
    return COMMTASK_OK;
}

/// Hands a task to its lane in the turn that it takes now.
/// @return COMMTASK_OK; or AGAIN, and the turn was not taken.
[[nodiscard]] int post_in_turn(task& slot, comm_queue& queue, bool may_wait) noexcept {
    turn& its = *slot.extras.its_turn;
    if (may_wait) {
        queue.order.take(its);
        queue.served_by->post(slot);
        return COMMTASK_OK;
    }
    const auto take = [](task& which) noexcept { which.queue->order.take(*which.extras.its_turn); };
    if (queue.served_by->try_post(slot, take)) return COMMTASK_OK;
    queue.order.unmake(its);
    return COMMTASK_AGAIN;
}

/// The same in the turn of a ticket.
/// @return COMMTASK_OK; or AGAIN or ERR_ARGUMENT, and the ticket was not used.
[[nodiscard]] int post_with_ticket(task& slot, comm_queue& queue, const commtask_ticket& ticket,
                                   bool may_wait) noexcept {
    turn* const its = queue.order.use(ticket.number);
    if (its == nullptr) return refuse_used_ticket(ticket);
    slot.extras.its_turn = its;
    if (may_wait) {
        queue.served_by->post(slot);
        return COMMTASK_OK;
    }
    if (queue.served_by->try_post(slot)) return COMMTASK_OK;
    queue.order.take_back_use(*its);
    return COMMTASK_AGAIN;
}

/// Memory for the turn of a task that may have to wait, or that others may have to wait for; null if it needs none.
/// @return false without memory
[[nodiscard]] bool make_turn(const commtask_op& op, std::uint32_t flags, comm_queue& queue, bool has_predecessors,
                             const source_place& where, turn*& made) noexcept {
    if (!has_predecessors && !queue.order.has_open()) return true;
    made = queue.order.make(op, flags, where);
    if (made == nullptr) return false;
    if (!made->has_channels()) queue.order.unmake(*std::exchange(made, nullptr));
    return true;
}

[[nodiscard]] int post_unordered(task& slot, lane& to, bool may_wait) noexcept {
    if (!may_wait) return to.try_post(slot) ? COMMTASK_OK : COMMTASK_AGAIN;
    to.post(slot);
    return COMMTASK_OK;
}

[[nodiscard]] int refuse_single_partitions(const operation_traits& operation) noexcept {
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "%s goes as its plan says when partitions are ready: record it between commtask_record_begin and "
                  "commtask_record_end",
                  operation.name);
}

/// From here on nobody else starts or changes the plan.
[[nodiscard]] int claim_plan(plan& started) noexcept {
    switch (started.try_start()) {
    case plan::start_answer::is_running: return refuse_running(started);
    case plan::start_answer::comm_is_gone:
        return refuse(COMMTASK_ERR_COMM, "a communicator of the plan was freed since the plan was recorded");
    case plan::start_answer::no_memory:
        return refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for the plan's next run");
    case plan::start_answer::done: break;
    }
    return COMMTASK_OK;
}

/// A run's task goes to the lane of the plan, whose members take their places now.
[[nodiscard]] int begin_and_post_run(task& slot, bool may_wait) noexcept {
    plan& started = plan_of(slot);
    started.begin_start(slot);
    return detail::post_run(slot, may_wait) ? COMMTASK_OK : COMMTASK_AGAIN;
}

/// What a post finds. A call that the interposer has made a task of does not ask whether the program uses the library.
[[nodiscard]] context* context_for(const commtask_op* operation) noexcept {
    context* const programs = context::current();
    const bool is_call = operation != nullptr && (static_cast<std::uint32_t>(operation->reserved) & flag_is_call) != 0;
    return programs == nullptr && is_call ? context::running() : programs;
}

/// Null: it is neither a plan with members nor an errand that brings its queue.
[[nodiscard]] comm_queue* home_of(const commtask_op& op) noexcept {
    if ((static_cast<std::uint32_t>(op.reserved) & flag_has_queue) != 0) return static_cast<comm_queue*>(op.result);
    const bool is_plan = operation_of(op.kind).takes_plan && op.result != nullptr;
    return is_plan ? static_cast<commtask_plan_t>(op.result)->home() : nullptr;
}

[[nodiscard]] int post(context& runtime, const commtask_op& op, const commtask_options* options, commtask_t* task_out) {
    int code = COMMTASK_OK;
    const bool may_wait = options == nullptr || (options->flags & COMMTASK_TRY) == 0;
    // A plan was checked when it was recorded, and so was its communicator.
    comm_queue* const home = home_of(op);
    comm_queue* queue = home != nullptr ? home
                        : may_wait      ? runtime.queue_of(op.comm, code)
                                        : runtime.try_queue_of(op.comm, code);
    if (queue == nullptr) return code;
    const operation_traits& operation = operation_of(op.kind);
    const commtask_ticket* const ticket = options != nullptr ? ticket_of(*options) : nullptr;
    const bool is_spread = home == nullptr && queue->spread() != nullptr;
    if (is_spread) [[unlikely]] {
        if (code = find_way(op, ticket, queue); code != COMMTASK_OK) return code;
    }
    if (home == nullptr) {
        code = check_post(runtime, op, options, *queue);
    } else if (options != nullptr) {
        code = check_options(*options, operation, *queue);
    }
    if (code != COMMTASK_OK) return code;
    if (operation.has_partitions) return refuse_single_partitions(operation);
    std::uint32_t flags = static_cast<std::uint32_t>(op.reserved) & (flag_is_call | flag_stands);
    if (task_out != nullptr) flags |= flag_has_handle;
    std::uint32_t n_predecessors = 0;
    if (options != nullptr) {
        flags |= options->flags | flag_has_extras;
        if (source_of(*options).file != nullptr) flags |= flag_has_source;
        n_predecessors = count_predecessors(*options);
    }
    const bool starts_here = must_start_now(op, operation, flags, n_predecessors);
    std::uint32_t n_references = (task_out != nullptr ? 2U : 1U) + (starts_here ? 1U : 0U); // worker, handle, here
    plan* const started = operation.takes_plan ? static_cast<plan*>(op.result) : nullptr;
    if (started != nullptr) {
        if (code = claim_plan(*started); code != COMMTASK_OK) return code;
        flags |= flag_is_run;
        ++n_references; // the plan's
    }

    task* const slot = task_pool::acquire();
    if (slot == nullptr || !graph::make_room_for_edges(*slot, n_predecessors)) {
        if (slot != nullptr) task_pool::release(slot);
        if (started != nullptr) started->end_change();
        return refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for a task");
    }
    // A ticket was entered when it was taken.
    const bool may_enter = operation.takes_window && (flags & flag_is_call) == 0 && ticket == nullptr;
    turn* its_turn = nullptr;
    if (ticket == nullptr && started == nullptr && (may_enter || can_have_turn(operation, flags)) &&
        !make_turn(op, may_enter ? flags | COMMTASK_ORDERED : flags, *queue, n_predecessors > 0,
                   options != nullptr ? source_of(*options) : source_place{}, its_turn)) {
        task_pool::release(slot);
        return refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for a task's turn");
    }
    if (may_enter) {
        const bool has_order = !may_wait || (flags & COMMTASK_UNORDERED) != 0;
        if (code = runtime.enter_epoch(op, has_order, flags); code != COMMTASK_OK) {
            if (its_turn != nullptr) queue->order.unmake(*its_turn);
            task_pool::release(slot);
            return code;
        }
        if (its_turn != nullptr && !can_have_turn(operation, flags)) {
            queue->order.unmake(*std::exchange(its_turn, nullptr));
        }
    }
    if (its_turn != nullptr || ticket != nullptr) flags |= flag_has_extras;
    const bool is_observed = runtime.has_observers();
    const std::uint64_t begin_ns = is_observed ? now_ns() : 0;
    std::uint64_t trace_id = 0;
    slot->begin_operation(op, *queue, flags, n_references);
    if (starts_here) slot->run.now = phase::posted; // until the lane has taken it over
    if (operation.computes) slot->modes = modes_of_this_thread();
    if (is_spread) slot->op.comm = queue->comm;
    if (options != nullptr) {
        fill_extras(*slot, *options);
    } else if ((flags & flag_has_extras) != 0) {
        slot->extras = {};
    }
    if (its_turn != nullptr) slot->extras.its_turn = its_turn;
    if (operation.takes_request) store_request(*slot, op);
    if (must_keep(*slot, operation)) {
        code = keep_arguments(runtime, *slot);
        if (code != COMMTASK_OK) {
            if (slot->has_extras()) undo_extras(*slot);
            task_pool::release(slot);
            return code;
        }
        flags = slot->flags();
    }
    if (is_observed) {
        slot->posted_ns = begin_ns;
        trace_id = begin_trace(*slot, runtime.trace_if_kept());
    }
    if (started != nullptr) {
        code = begin_and_post_run(*slot, may_wait);
    } else if (ticket != nullptr) {
        code = post_with_ticket(*slot, *queue, *ticket, may_wait);
    } else if (its_turn != nullptr) {
        code = post_in_turn(*slot, *queue, may_wait);
    } else {
        code = post_unordered(*slot, *queue->served_by, may_wait);
    }
    if (code != COMMTASK_OK) {
        if (slot->has_extras()) undo_extras(*slot);
        runtime.handles().let_go(*slot);
        task_pool::release(slot);
        return code == COMMTASK_AGAIN ? refuse(code, "the queue is full") : code;
    }
    if (starts_here) start_now(*queue->served_by, *slot);
    if (operation.takes_window && ticket != nullptr) runtime.settle_ticket(op.comm, ticket->number, true);
    if (operation.takes_request) *static_cast<MPI_Request*>(op.result) = MPI_REQUEST_NULL;
    if (task_out != nullptr) *task_out = static_cast<commtask_t>(slot);
    if (is_observed) {
        if (statistics* const counted = runtime.statistics_if_kept(*queue->served_by))
            counted->add_post(now_ns() - begin_ns);
        if (trace_id != 0) {
            const bool is_ordered = ticket != nullptr || is_in_common_order(operation, flags);
            trace_post(*runtime.trace_if_kept(), trace_id, op, *queue, is_ordered ? flags | COMMTASK_ORDERED : flags,
                       options, begin_ns);
        }
    }
    return COMMTASK_OK;
}

} // namespace

int context::post_own(commtask_op op, const commtask_options* options, commtask_t* task) noexcept {
    op.reserved = static_cast<int>(flag_is_call);
    return post(*this, op, options, task);
}

/// All but the options.
static int check_operation(context& runtime, const commtask_op& op, const comm_queue& queue) noexcept {
    const int tag_upper_bound = runtime.comms().tag_upper_bound();
    if (!operation_of(op.kind).takes_window) return check_arguments(op, queue, tag_upper_bound);
    // The interposer knows the windows of a program that registers none.
    if ((static_cast<std::uint32_t>(op.reserved) & flag_is_call) != 0) return COMMTASK_OK;
    const auto window = runtime.windows().find(window_of(op));
    if (window == nullptr)
        return refuse(COMMTASK_ERR_WINDOW, "window was freed or unregistered while a task was posted");
    const bool may_ask_mpi = runtime.thread_level() == MPI_THREAD_MULTIPLE || lane::is_driving();
    return check_window_arguments(op, *window, queue, tag_upper_bound, may_ask_mpi);
}

source_place source_of(const commtask_options& options) noexcept {
    const bool has_fields = options.struct_size >= offsetof(commtask_options, line) + sizeof options.line;
    return has_fields ? source_place{options.file, options.line} : source_place{};
}

int check_post(context& runtime, const commtask_op& op, const commtask_options* options,
               const comm_queue& queue) noexcept {
    if (!is_plain_message(op, queue, runtime.comms().tag_upper_bound())) {
        if (const int code = check_operation(runtime, op, queue); code != COMMTASK_OK) return code;
    }
    return options == nullptr ? COMMTASK_OK : check_options(*options, operation_of(op.kind), queue);
}

} // namespace commtask::detail

using namespace commtask::detail;

static int post_any(const commtask_op* operation, const commtask_options* options, commtask_t* task) noexcept {
    context* const runtime = context_for(operation);
    if (runtime == nullptr) return refuse_without_runtime();
    if (operation == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "operation is null");
    commtask_op on_window;
    if (operation->comm == MPI_COMM_NULL) {
        on_window = *operation;
        if (const int code = runtime->give_channel(on_window); code != COMMTASK_OK) return code;
        operation = &on_window;
    }
    const bool is_call = (static_cast<std::uint32_t>(operation->reserved) & flag_is_call) != 0;
    if (is_recording() && !is_call) return record(*runtime, *operation, options, task);
    return post(*runtime, *operation, options, task);
}

int commtask_post(const commtask_op* operation, const commtask_options* options, commtask_t* task) noexcept {
    const int code = post_any(operation, options, task);
    return code < COMMTASK_AGAIN ? name_refused(code, operation) : code;
}

int commtask_comm_register(MPI_Comm comm) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    int code = COMMTASK_OK;
    return runtime->queue_of(comm, code) != nullptr ? COMMTASK_OK : code;
}

static int take_ticket(const commtask_op* operation, const commtask_options* options,
                       commtask_ticket* ticket) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (operation == nullptr || ticket == nullptr) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", operation == nullptr ? "operation" : "ticket");
    }
    commtask_op op = *operation;
    const operation_traits& kind = operation_of(op.kind);
    const std::uint32_t flags = options != nullptr ? options->flags : COMMTASK_NONE;
    if (!can_have_turn(kind, flags)) { // its post looks at the rest
        *ticket = {};
        return COMMTASK_OK;
    }
    int code = runtime->give_channel(op);
    if (code != COMMTASK_OK) return code;
    comm_queue* queue = runtime->queue_of(op.comm, code);
    if (queue == nullptr) return code;
    if (queue->spread() != nullptr) {
        if (code = find_way(op, nullptr, queue); code != COMMTASK_OK) return code;
    }
    // A place that is never used would hold up what comes later, so a wrong argument is found before one is taken.
    if (code = check_post(*runtime, op, options, *queue); code != COMMTASK_OK) return code;
    if (kind.takes_plan) {
        return refuse(COMMTASK_ERR_ARGUMENT, "a plan takes the turns of its members when it is started, none before");
    }
    if (kind.has_partitions) return refuse_single_partitions(kind);
    const source_place where = options != nullptr ? source_of(*options) : source_place{};
    std::uint64_t number = 0;
    if (code = runtime->take_ticket(op, flags, where, *queue, number); code != COMMTASK_OK) return code;
    *ticket = {};
    if (number != 0) *ticket = {number, static_cast<std::uint32_t>(kind.ordered_in), queue->number};
    return COMMTASK_OK;
}

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
        return refuse(COMMTASK_ERR_ARGUMENT, "ticket is not one that commtask_ticket_take gave");
    }
    int code = COMMTASK_OK;
    // Of a window, whose communicator the caller does not know.
    comm_queue* const windows_queue = comm == MPI_COMM_NULL ? runtime->comms().find_by_number(ticket.queue) : nullptr;
    comm_queue* queue = windows_queue != nullptr ? windows_queue : runtime->queue_of(comm, code);
    if (queue == nullptr) return code;
    queue = &queue_of_ticket(*queue, ticket);
    if (code = check_ticket(ticket, *queue); code != COMMTASK_OK) return code;
    return drop_place(*runtime, queue->comm, *queue, ticket);
}
