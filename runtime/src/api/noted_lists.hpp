// SPDX-License-Identifier: Apache-2.0
//
// What the lists and arrays of recorded operations hold, for COMMTASK_PLAN_CHECK=1: their addresses say nothing of it, and what a
// program has changed in place is in none of the plan's persistent requests.
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// A driver, since MPI is asked how long arrays are. Without memory nothing is noted.
void note_lists(commtask_plan_s& recorded) noexcept;

} // namespace commtask::detail
