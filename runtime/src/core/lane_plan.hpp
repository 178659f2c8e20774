// SPDX-License-Identifier: Apache-2.0
//
// What a lane's other files ask about runs of plans and their members. Of all the files of a lane, lane_plan.cpp alone knows what a
// plan is, and a plan knows no lane.
#pragma once

#include "core/task.hpp"

#include <commtask/commtask.h>

#include <string>

namespace commtask::detail {

/// Whether the task is a member whose end the program wants to hear of (commtask_plan_on_member).
[[nodiscard]] bool tells_of_member(const task& ended) noexcept;
/// Tells the program, if tells_of_member().
void call_for_member(const task& ended, const commtask_status& status) noexcept;

/// For lists: where a run in flight waits, and a member that is not ready.
[[nodiscard]] std::string where_run_waits(const task& run);
[[nodiscard]] const char* what_makes_ready(const task& held) noexcept;

} // namespace commtask::detail
