// SPDX-License-Identifier: Apache-2.0
//
// The bodies of the wrappers of communication functions: post a task and return its handle, or post
// a task and wait for it. A call whose arguments are not known to be valid, or that the runtime
// refuses, goes to MPI's nonblocking function on the calling thread: MPI checks it and calls the
// program's error handler itself.
#pragma once

#include "api/context.hpp"
#include "base/function_ref.hpp"
#include "base/tuning.hpp"
#include "core/operation_traits.hpp"
#include "doorbell/node_ringer.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "known.hpp"
#include "mpi/counts.hpp"
#include "mpi/errors.hpp"
#include "persistent.hpp"
#include "sections.hpp"
#include "status.hpp"
#include "traced_call.hpp"

#include <commtask/commtask.h>

namespace commtask::interposer {

/// Moves the message of an Imrecv into the slot, for the task. post() sets the program's variable
/// to null.
inline void take_message(commtask_op& op, slot& holder) noexcept {
    if (!detail::operation_of(op.kind).takes_message || op.result == nullptr) return;
    auto* const message = static_cast<MPI_Message*>(op.result);
    holder.message = *message;
    op.result = &holder.message;
}

/// Copies the arrays of counts. MPI reads them at the call, and programs free them afterwards,
/// although the standard forbids that. This is the only allocation of a post; MPI's own cost for
/// such a call, per rank, is higher.
/// @return false if memory is exhausted, or the communicator is invalid: MPI must report it
[[nodiscard]] inline bool keep_arrays(commtask_op& op, slot& holder) noexcept {
    if (!detail::operation_of(op.kind).has_arrays()) return true;
    const detail::errors_return scope;
    return scope.code_of(detail::copy_arrays(op, holder.arrays)) == MPI_SUCCESS;
}

/// Whether a task can receive the message of this call. True for calls without a message.
[[nodiscard]] inline bool has_message(const commtask_op& op) noexcept {
    if (!detail::operation_of(op.kind).takes_message) return true;
    const auto* const message = static_cast<const MPI_Message*>(op.result);
    return message != nullptr && *message != MPI_MESSAGE_NULL && *message != MPI_MESSAGE_NO_PROC;
}

/// Whether the peer is MPI_PROC_NULL. Then the first test must find the request complete, as with
/// MPI's own request.
[[nodiscard]] inline bool is_to_nobody(const commtask_op& op) noexcept {
    const detail::operation_traits& kind = detail::operation_of(op.kind);
    if (kind.family == detail::operation_family::send) return op.peer == MPI_PROC_NULL;
    return kind.family == detail::operation_family::receive && kind.has_source && op.source == MPI_PROC_NULL;
}

/// Whether making the call here costs less than waking the worker for it. A shared worker does not
/// block while there is much to do or a core is idle. While it is blocked, a small message goes
/// directly to MPI.
[[nodiscard]] inline bool is_for_caller(const commtask_op& op) noexcept {
    const detail::operation_family family = detail::operation_of(op.kind).family;
    const bool receives = family == detail::operation_family::receive;
    // With a trace the call becomes a task, so that the trace contains it.
    if (detail::tracer::current() != nullptr) return false;
    if (current.waiting.worker_is_reserved || (!receives && family != detail::operation_family::send)) return false;
    const commtask_side& buffer = receives ? op.recv : op.send;
    const detail::lane_set* const lanes = active_lanes();
    if (buffer.count >= detail::tuning::woken_for_bytes || lanes == nullptr || !lanes->approx_are_waiting())
        return false;
    int type_bytes = 0;
    MPI_Type_size(buffer.type, &type_bytes);
    return buffer.count * type_bytes < detail::tuning::woken_for_bytes;
}

/// For a message that is no task, or that MPI has completed: rings the doorbells of the node's
/// ranks that wait for it. The caller is in a section.
inline void ring_waiting_ranks(const commtask_op& op) noexcept {
    detail::context* const runtime = detail::context::running();
    if (runtime == nullptr || runtime->bells() == nullptr) return;
    detail::comm_queue* queue = runtime->comms().find(op.comm);
    if (queue == nullptr && runtime->comms().add(op.comm, queue) != MPI_SUCCESS) return;
    if (queue->node == nullptr) return;
    detail::visit_waiting_ranks(op, *queue->node, [&](std::size_t place) { runtime->bells()->ring(place); });
}

/// Calls MPI's own nonblocking function with the arguments of the call and the given request.
using native_call = detail::function_ref<int(MPI_Request*)>;

/// A nonblocking call. `native` calls MPI's own function.
inline int post(const commtask_op& described, MPI_Request* request, native_call native) {
    commtask_op op = described;
    op.reserved = detail::flag_is_call;
    slot* holder = nullptr;
    if (request != nullptr && known::are_arguments_good(op) && has_message(op) && !is_to_nobody(op) &&
        !is_for_caller(op)) {
        holder = handles::acquire();
    }
    if (holder != nullptr) {
        auto* const message = static_cast<MPI_Message*>(op.result);
        take_message(op, *holder);
        if (keep_arrays(op, *holder) && commtask_post_operation(&op, nullptr, &holder->task) == COMMTASK_OK) {
            if (detail::operation_of(op.kind).takes_message) *message = MPI_MESSAGE_NULL;
            *request = handles::handle_of(holder);
            return MPI_SUCCESS;
        }
        handles::release(holder);
    }
    return inside<progress_section>([&] {
        const int code = native(request);
        if (code == MPI_SUCCESS) ring_waiting_ranks(op);
        return code;
    });
}

/// Tests the request of a blocking call. MPICH reports an error of the test to the handler of
/// MPI_COMM_WORLD, but an error of the blocking call to the handler of its communicator. The test
/// therefore returns errors as codes, and the caller raises the error on the communicator.
/// @return whether the request has ended; `code` has its error
[[nodiscard]] inline bool test_quietly(MPI_Request& request, MPI_Status* status, int& code) {
    const detail::errors_return scope;
    int has_ended = 0;
    code = scope.code_of(commtask_real_MPI_Test(&request, &has_ended, status));
    return code != MPI_SUCCESS || has_ended != 0;
}

/// Makes a blocking call as a nonblocking one on the calling thread, without a task.
/// @param comm  its handler gets an error
inline int run_twin(MPI_Comm comm, MPI_Status* status, native_call twin) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = inside<progress_section>([&] { return twin(&request); });
    if (code != MPI_SUCCESS) return code;
    poll_until([&] { return test_quietly(request, status, code); });
    return code == MPI_SUCCESS ? code : raise(comm, code);
}

/// A blocking collective that is called in a callback of the program, by MPI-IO, or after this
/// rank's worker was abandoned. If another rank makes the call outside of any callback and with a
/// worker, the call is a nonblocking collective there. MPI does not match a nonblocking collective
/// with a blocking one, so the call must be nonblocking here too.
inline int run_from_below(MPI_Comm comm, detail::function_ref<int()> real, native_call twin) {
    if (current.state.load() == workers::none || detail::in_progress_call()) return real();
    return run_twin(comm, MPI_STATUS_IGNORE, twin);
}

/// Whether a blocking call may start here, before it becomes a task. A message may, since it has no
/// turn in program order. A collective must not start before one that waits for its turn. The
/// caller has the progress locks.
[[nodiscard]] inline bool may_start_here(const commtask_op& op) noexcept {
    const detail::operation_traits& kind = detail::operation_of(op.kind);
    if (kind.family == detail::operation_family::send || kind.family == detail::operation_family::receive) return true;
    if (kind.ordered_in != detail::order_class::collectives) return false;
    detail::context* const runtime = detail::context::running();
    if (runtime == nullptr) return true; // abandoned in the meantime: calls go directly to MPI
    const detail::comm_queue* const queue = runtime->comms().find(op.comm);
    return queue == nullptr || !queue->order.has_open();
}

/// A blocking call. `twin` calls MPI's nonblocking function. Most calls complete at
/// once and become no task. The others become tasks, so that waiting threads do not block each
/// other's calls.
inline int run(const commtask_op& described, MPI_Status* status, native_call twin) {
    commtask_op op = described;
    op.reserved = detail::flag_is_call;
    const detail::reduction_under_way in_its_modes{detail::operation_of(op.kind).takes_reduction};
    int code = MPI_SUCCESS;
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Comm comm = op.comm == MPI_COMM_NULL ? MPI_COMM_WORLD : op.comm;
    const detail::lane_set* const lanes = active_lanes();
    if (lanes != nullptr && (!lanes->has_callers() || must_block()) && !is_to_nobody(op)) {
        bool is_reported = false;
        traced_passing traced{op};
        MPI_Status* const status_kept = traced.status_for(status);
        const in_passing how = start_in_passing(
            [&] {
                if (!may_start_here(op)) return false;
                code = twin(&request);
                is_reported = code != MPI_SUCCESS;
                if (!is_reported) ring_waiting_ranks(op);
                return true;
            },
            [&] {
                if (is_reported) return true;
                const bool has_ended = test_quietly(request, status_kept, code);
                if (has_ended) ring_waiting_ranks(op);
                return has_ended;
            });
        if (how == in_passing::ended && code == MPI_SUCCESS) traced.ended(status_kept);
        if (how == in_passing::ended) return code == MPI_SUCCESS || is_reported ? code : raise(comm, code);
        if (how == in_passing::open) { // the other fields of the operation are for reports
            op.array_form = op.kind;
            op.kind = COMMTASK_OP_ATTACH;
            op.result = &request;
        }
    }
    const bool is_started = request != MPI_REQUEST_NULL;
    if (!is_started && (!known::are_arguments_good(op) || !has_message(op))) return run_twin(comm, status, twin);
    commtask_t task = COMMTASK_NULL;
    {
        const detail::quiet_posts scope{!current.waiting.worker_is_reserved};
        if ((is_started && must_block()) || commtask_post_operation(&op, nullptr, &task) != COMMTASK_OK) {
            return run_twin(comm, status, [&](MPI_Request* it) {
                *it = request;
                return is_started ? MPI_SUCCESS : twin(it);
            });
        }
    }
    wait_for_tasks([task] { return has_ended(task); });
    return finish_one(task, status);
}

} // namespace commtask::interposer
