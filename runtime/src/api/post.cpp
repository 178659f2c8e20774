// SPDX-License-Identifier: Apache-2.0
//
// Posting. A post of a plain message writes two lines of the task, its shared line and one cell of
// the submission queue. It loads nothing that the worker writes. Every other post is a function of
// its own, listed in posting.hpp. A wrong argument is refused before memory or a position in
// program order is taken.
#include "api/failures.hpp"
#include "api/keeping.hpp"
#include "api/plan_start.hpp"
#include "api/post_window.hpp"
#include "api/posting.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"
#include "core/task_pool.hpp"
#include "mpi/arguments.hpp"
#include "mpi/one_sided.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {
namespace {

[[nodiscard]] bool is_call(const commtask_op& op) noexcept {
    return (static_cast<std::uint32_t>(op.reserved) & flag_is_call) != 0;
}

/// The runtime for a post. A call that the interposer turned into a task uses the running runtime,
/// whether or not the program uses the library.
[[nodiscard]] context* context_for(const commtask_op* operation) noexcept {
    context* const programs = context::current();
    return programs == nullptr && operation != nullptr && is_call(*operation) ? context::running() : programs;
}

/// For an operation without options on a queue of its communicator. Whether it needs no references
/// to arguments, there are no observers, and no turn is open that the operation might have to wait
/// for.
[[nodiscard]] bool needs_nothing(const context& runtime, const commtask_op& op, const comm_queue& queue) noexcept {
    return !runtime.has_observers() && !queue.order.has_open() && (is_call(op) || !may_have_handles(op, queue));
}

/// The fast path: operations that need none of the other steps.
[[nodiscard]] int post_plain(const commtask_op& op, comm_queue& queue, commtask_t* task_out) noexcept {
    task* const slot = task_pool::acquire();
    if (slot == nullptr) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a task");
    const std::uint32_t flags = static_cast<std::uint32_t>(op.reserved) & flag_is_call;
    if (task_out == nullptr) {
        slot->begin_operation(op, queue, flags, 1);
    } else {
        slot->begin_operation(op, queue, flags | flag_has_handle, 2);
        *task_out = static_cast<commtask_t>(slot);
    }
    queue.served_by->post(*slot);
    return COMMTASK_OK;
}

/// Checks everything but the options.
[[nodiscard]] int check_operation(context& runtime, const commtask_op& op, const comm_queue& queue) noexcept {
    const int tag_upper_bound = runtime.comms().tag_upper_bound();
    if (!operation_of(op.kind).takes_window) return check_arguments(op, queue, tag_upper_bound);
    // If the program registers no windows, the interposer knows the windows.
    if (is_call(op)) return COMMTASK_OK;
    const auto window = runtime.windows().find(window_of(op));
    if (window == nullptr)
        return refuse(COMMTASK_ERR_WINDOW, "window was freed or unregistered while a task was posted");
    const bool may_ask_mpi = runtime.thread_level() == MPI_THREAD_MULTIPLE || in_progress_call();
    return check_window_arguments(op, *window, queue, tag_upper_bound, may_ask_mpi);
}

/// Posts on the operation's communicator.
[[nodiscard]] int post(context& runtime, const commtask_op& op, const commtask_options* options,
                       commtask_t* task) noexcept {
    int code = COMMTASK_OK;
    const bool may_wait = options == nullptr || (options->flags & COMMTASK_TRY) == 0;
    comm_queue* const queue = may_wait ? runtime.queue_of(op.comm, code) : runtime.try_queue_of(op.comm, code);
    if (queue == nullptr) return code;
    if (queue->striping() != nullptr) return post_striped(runtime, op, options, *queue, task);
    return post_on_queue(runtime, op, options, *queue, op.comm, task);
}

/// Every post except that of a plain message.
[[nodiscard]] int post_any(context& runtime, const commtask_op& op, const commtask_options* options,
                           commtask_t* task) noexcept {
    if (starts_plan(op)) return start_plan(runtime, op, options, task);
    commtask_op on_window;
    const commtask_op* given = &op;
    if (op.comm == MPI_COMM_NULL) {
        on_window = op;
        if (const int code = give_channel(runtime, on_window); code != COMMTASK_OK) return code;
        given = &on_window;
    }
    if (is_recording() && !is_call(op)) return record(runtime, *given, options, task);
    return post(runtime, *given, options, task);
}

} // namespace

int context::post_own(commtask_op op, const commtask_options* options, commtask_t* task) noexcept {
    op.reserved = static_cast<int>(flag_is_call);
    return post(*this, op, options, task);
}

int check_post(context& runtime, const commtask_op& op, const commtask_options* options,
               const comm_queue& queue) noexcept {
    if (!is_plain_message(op, queue, runtime.comms().tag_upper_bound())) {
        if (const int code = check_operation(runtime, op, queue); code != COMMTASK_OK) return code;
    }
    return options == nullptr ? COMMTASK_OK : check_options(*options, operation_of(op.kind), queue);
}

int refuse_single_partitions(const operation_traits& operation) noexcept {
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "%s is allowed in plans only: record it between commtask_record_begin and commtask_record_end",
                  operation.name);
}

int post_on_queue(context& runtime, const commtask_op& op, const commtask_options* options, comm_queue& queue,
                  MPI_Comm comm, commtask_t* task) noexcept {
    if (const int code = check_post(runtime, op, options, queue); code != COMMTASK_OK) return code;
    const bool is_simple = options == nullptr && comm == op.comm && operation_of(op.kind).is_simple;
    if (is_simple && needs_nothing(runtime, op, queue)) return post_plain(op, queue, task);
    posting made{runtime, op, options, queue, task};
    made.comm = comm;
    if (made.kind.has_partitions) return refuse_single_partitions(made.kind);
    if (const commtask_ticket* const ticket = ticket_of(options)) return post_with_ticket(made, *ticket);
    return made.kind.takes_window && !is_call(op) ? post_on_window(made) : post_in_order(made);
}

int post_nothing(comm_queue& queue, MPI_Comm comm, const commtask_options* options, commtask_t* task) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    const commtask_op nothing = commtask_op_noop(comm);
    posting made{*runtime, nothing, options, queue, task};
    return post_in_order(made);
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_post_operation(const commtask_op* operation, const commtask_options* options, commtask_t* task) noexcept {
    context* const runtime = context_for(operation);
    int code = COMMTASK_OK;
    if (runtime == nullptr) {
        code = refuse_without_runtime();
    } else if (operation == nullptr) {
        code = refuse(COMMTASK_ERR_ARGUMENT, "operation is null");
    } else {
        if (options == nullptr && is_plain_kind(operation->kind) && !is_recording()) [[likely]] {
            comm_queue* const queue = runtime->comms().find(operation->comm);
            if (queue != nullptr && queue->striping() == nullptr && needs_nothing(*runtime, *operation, *queue) &&
                is_plain_message(*operation, *queue, runtime->comms().tag_upper_bound())) {
                return post_plain(*operation, *queue, task);
            }
        }
        code = post_any(*runtime, *operation, options, task);
    }
    return code < COMMTASK_AGAIN ? name_refused(code, operation) : code;
}

int commtask_comm_register(MPI_Comm comm) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    int code = COMMTASK_OK;
    return runtime->queue_of(comm, code) != nullptr ? COMMTASK_OK : code;
}
