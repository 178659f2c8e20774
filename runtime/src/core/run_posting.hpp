// SPDX-License-Identifier: Apache-2.0
//
// A run's way to its lanes: one cell of its lane's queue, whatever the number of members, and one more for each member of another
// lane.
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// After plan::begin_start(). Any thread. @param may_wait  for room; else, without room, the start is taken back, and the task stays
/// the caller's
/// @return whether the run was posted
[[nodiscard]] bool post_run(task& run, bool may_wait) noexcept;

} // namespace commtask::detail
