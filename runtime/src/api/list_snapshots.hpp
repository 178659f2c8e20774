// SPDX-License-Identifier: Apache-2.0
//
// The contents of the lists and arrays of recorded operations, for COMMTASK_PLAN_CHECK=1. The
// addresses of lists say nothing about their contents, and the plan's persistent requests do not
// have the values that a program has changed in place.
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// On a progress thread, since MPI is asked for the lengths of arrays. Without memory nothing is
/// noted.
void snapshot_lists(commtask_plan_s& recorded) noexcept;

} // namespace commtask::detail
