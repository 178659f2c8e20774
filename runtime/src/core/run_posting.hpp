// SPDX-License-Identifier: Apache-2.0
//
// Posts a run to its lanes: the run takes one cell of its lane's queue, whatever the number of
// members, and one more cell for each member on another lane.
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// Any thread, after plan::begin_start().
/// @param may_wait  whether the thread may wait for room. If it may not and there is no room, the
/// start is taken back, and the task stays the caller's
/// @return whether the run was posted
[[nodiscard]] bool post_run(task& run, bool may_wait) noexcept;

} // namespace commtask::detail
