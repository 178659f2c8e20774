// SPDX-License-Identifier: Apache-2.0
//
// The kind of operation behind a task. A task that attaches a request of the program does not know
// the kind, unless the interposer has stored it. Without it, a trace would show all collectives of
// an unmodified program as one kind, and would read lengths that MPI does not define.
#pragma once

#include "core/operation_traits.hpp"

namespace commtask::detail {

/// The task's commtask_kind; for an attached request, the kind of the request's operation if it is
/// known.
[[nodiscard]] inline int kind_of(const commtask_op& op) noexcept {
    return operation_of(op.kind).takes_request && op.array_form != 0 ? op.array_form : op.kind;
}

/// Whether MPI, or a function of the program that MPI calls, may do arithmetic for the operation
/// while it is in flight.
[[nodiscard]] inline bool computes(const commtask_op& op) noexcept { return operation_of(kind_of(op)).computes; }

} // namespace commtask::detail
