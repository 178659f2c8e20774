// SPDX-License-Identifier: Apache-2.0
//
// Questions about runs of plans and their members. plan_runs.cpp alone knows plans and the parts of a lane; a plan knows no lane.
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
