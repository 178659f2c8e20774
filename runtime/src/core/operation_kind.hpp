// SPDX-License-Identifier: Apache-2.0
//
// The kind of operation behind a task. A task that waits for a request that the program has started
// does not show the kind, unless the interposer tells it. Without the interposer's kind, a trace
// would show all collectives of an unmodified program as one kind. It would also read lengths from
// statuses in which MPI leaves other values.
#pragma once

#include "core/operation_traits.hpp"

namespace commtask::detail {

/// The task's commtask_kind, or the kind of the operation whose request it waits for, if that is
/// known.
[[nodiscard]] inline int kind_of(const commtask_op& op) noexcept {
    return operation_of(op.kind).takes_request && op.array_form != 0 ? op.array_form : op.kind;
}

/// Whether MPI may do arithmetic for the operation once it has started, or call a function of the
/// program that does.
[[nodiscard]] inline bool computes(const commtask_op& op) noexcept { return operation_of(kind_of(op)).computes; }

} // namespace commtask::detail
