// SPDX-License-Identifier: Apache-2.0
//
// Posts a run to its lanes. The run takes one cell of its lane's ring, and each member on another
// lane takes one cell there.
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// Any thread, after plan::begin_start().
/// @param may_wait  whether the thread may wait for room in the queue. If it may not and there is
/// no room, the start is undone, and the task belongs to the caller
/// @return whether the run was posted
[[nodiscard]] bool post_run(task& run, bool may_wait) noexcept;

} // namespace commtask::detail
