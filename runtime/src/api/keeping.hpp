// SPDX-License-Identifier: Apache-2.0
//
// Keeps arguments of a post, so that the program may free its handles and reuse its short lists
// when the post has returned, as with MPI's nonblocking calls. For MPI's own datatypes on
// MPI_COMM_WORLD a few comparisons show that nothing must be kept.
#pragma once

#include "api/context.hpp"
#include "core/operation_traits.hpp"
#include "mpi/made_types.hpp"

namespace commtask::detail {

[[nodiscard]] inline bool has_lists(const operation_traits& kind) noexcept {
    return kind.has_arrays() || kind.has_dests;
}
[[nodiscard]] inline bool may_have_handles(const commtask_op& op, const comm_queue& queue) noexcept {
    return needs_comm(op, queue) || may_be_made(op.send.type) || may_be_made(op.recv.type);
}
/// Whether a task, whose operation is written, may need to keep something. User-defined operations
/// need not: their functions keep what they need. The interposer's calls need not: before one of
/// them frees anything, all that was posted before is issued.
[[nodiscard]] inline bool must_keep(const task& made, const operation_traits& kind) noexcept {
    return (has_lists(kind) || may_have_handles(made.op, *made.queue)) && kind.family != operation_family::custom &&
           (made.flags() & flag_is_call) == 0;
}

/// Called by the submitter before it hands the task over.
/// @return COMMTASK_OK; ERR_NO_MEMORY with a sentence: nothing is kept
[[nodiscard]] int keep_arguments(context& runtime, task& made) noexcept;

/// Whether the submitter starts the operation itself. The library cannot keep a reduction operation
/// of the program's; MPI keeps it from the start on.
[[nodiscard]] inline bool must_start_now(const commtask_op& op, const operation_traits& kind, std::uint32_t flags,
                                         std::uint32_t n_predecessors) noexcept {
    // the submitter must not wait for the progress lock
    if ((flags & COMMTASK_TRY) != 0) return false;
    if ((flags & COMMTASK_START_NOW) != 0) return true;
    return kind.takes_reduction && (flags & flag_is_call) == 0 && n_predecessors == 0 &&
           may_be_made_operation(op.reduction);
}

/// Called by the submitter after it has handed the task over to this lane. Drops the submitter's
/// reference.
void start_now(lane& to, task& posted) noexcept;

} // namespace commtask::detail
