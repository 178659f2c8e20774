// SPDX-License-Identifier: Apache-2.0
//
// A pending MPI operation keeps its datatype when the program frees it, and a recorded operation
// must do the same: the plan has duplicates. Reductions use the program's own datatype: MPI calls
// the reduction function with the handle, and the function cannot be duplicated. The cost is a
// control task for each recorded post with a derived datatype.
#pragma once

#include "core/plan.hpp"

#include <commtask/operation.h>

namespace commtask::detail {

/// Whether keep_types() may have datatypes to keep. Calls no MPI function.
[[nodiscard]] bool may_make_types(const commtask_op& op) noexcept;

/// With the progress lock. Replaces the datatypes of a member that the program may free by
/// duplicates. Sides that are not significant on this rank are skipped, since their datatypes may
/// be invalid.
/// @return an MPI error code; the duplicates made until then are in `into`
[[nodiscard]] int keep_types(plan_types& into, plan_member& member) noexcept;

/// With the progress lock. Frees the duplicates; MPI keeps each one that a request still needs.
void free_types(plan_types& of) noexcept;

/// With the progress lock. Whether two datatypes were constructed in the same way from the same
/// datatypes. True also for a datatype and its duplicate. @throws std::bad_alloc
[[nodiscard]] bool are_same_types(MPI_Datatype one, MPI_Datatype other);

} // namespace commtask::detail
