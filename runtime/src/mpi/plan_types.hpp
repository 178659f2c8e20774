// SPDX-License-Identifier: Apache-2.0
//
// A pending operation of MPI keeps its datatype when the program frees it, and so must a recorded one: the plan has duplicates.
// Reductions have the program's own: their function is called with the handle, and it cannot be duplicated either. The price is a
// visit to the worker for each recorded post with a datatype that the program has made.
#pragma once

#include "core/plan.hpp"

#include <commtask/operation.h>

namespace commtask::detail {

/// Whether keep_types() may have something to do. MPI is not asked.
[[nodiscard]] bool may_make_types(const commtask_op& op) noexcept;

/// A driver: gives a member duplicates in place of what the program may free. Which side counts on this rank is looked at, since what
/// does not count need not be a datatype.
/// @return an MPI error code; what was made until then is in `into`
[[nodiscard]] int keep_types(plan_types& into, plan_member& member) noexcept;

/// A driver: MPI keeps those that requests of its own still need.
void free_types(plan_types& of) noexcept;

/// A driver. Whether two datatypes were made in the same way, of the same: also one and its duplicate, or two that a program has made
/// one after the other. @throws std::bad_alloc
[[nodiscard]] bool are_same_types(MPI_Datatype one, MPI_Datatype other);

} // namespace commtask::detail
