// SPDX-License-Identifier: Apache-2.0
//
// What a task does. A request that was started elsewhere hides that, but for whom the interposer tells; without this a trace would call all of
// an unmodified program's collectives the same, and take a length out of statuses in which MPI left something else.
#pragma once

#include "core/operation_traits.hpp"

namespace commtask::detail {

/// Its commtask_kind, or that of the request that it takes, if it is known.
[[nodiscard]] inline int kind_of(const commtask_op& op) noexcept {
    return operation_of(op.kind).takes_request && op.array_form != 0 ? op.array_form : op.kind;
}

/// Whether MPI may add numbers for it once it has started, or call a function of the program's that does.
[[nodiscard]] inline bool computes(const commtask_op& op) noexcept { return operation_of(kind_of(op)).computes; }

} // namespace commtask::detail
