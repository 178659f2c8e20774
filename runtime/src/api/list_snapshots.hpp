// SPDX-License-Identifier: Apache-2.0
//
// Copies of the lists and arrays of recorded operations, for COMMTASK_PLAN_CHECK=1. Addresses do
// not show whether the contents have changed, and the plan's persistent requests do not use values
// that a program has changed in place.
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// On a progress thread, since MPI is asked for the lengths of arrays. If memory is exhausted, no
/// copy is made.
void snapshot_lists(commtask_plan_s& recorded) noexcept;

} // namespace commtask::detail
