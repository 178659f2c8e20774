// SPDX-License-Identifier: Apache-2.0
//
// What a post does so that the program may free its handles, and use its short lists again, when the post has returned: as with
// MPI's nonblocking calls. A post of MPI's own datatypes on MPI_COMM_WORLD finds in a few comparisons that there is nothing to do.
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
/// Whether an operation, which its task has already, may have something to be kept. Doors have not: their functions know what they
/// need. Nor have the interposer's calls: before one frees anything, all that was posted is issued.
[[nodiscard]] inline bool must_keep(const task& made, const operation_traits& kind) noexcept {
    return (has_lists(kind) || may_have_handles(made.op, *made.queue)) && kind.family != operation_family::door &&
           (made.flags() & flag_is_call) == 0;
}

/// The submitter, before it hands the task over. @return COMMTASK_OK; ERR_NO_MEMORY with a sentence: nothing is kept
[[nodiscard]] int keep_arguments(context& runtime, task& made) noexcept;

/// Whether the submitter starts the operation itself: MPI keeps a reduction operation of the program's from there on, and the library
/// cannot.
[[nodiscard]] inline bool must_start_now(const commtask_op& op, const operation_traits& kind, std::uint32_t flags,
                                         std::uint32_t n_predecessors) noexcept {
    if ((flags & COMMTASK_TRY) != 0) return false; // it must not wait for the progress lock
    if ((flags & COMMTASK_START_NOW) != 0) return true;
    return kind.takes_reduction && (flags & flag_is_call) == 0 && n_predecessors == 0 &&
           may_be_made_operation(op.reduction);
}

/// The submitter, after it has handed the task over to this lane, with a reference of its own, which is dropped.
void start_now(lane& to, task& posted) noexcept;

} // namespace commtask::detail
