// SPDX-License-Identifier: Apache-2.0
//
// Questions about runs of plans and their members. Only plan_runs.cpp knows both plans and the
// parts of a lane; a plan knows no lane.
#pragma once

#include "core/task.hpp"

#include <commtask/commtask.h>

#include <string>

namespace commtask::detail {

/// Whether the task is a member whose end the program wants reported (commtask_plan_on_member).
[[nodiscard]] bool has_member_callback(const task& ended) noexcept;
/// Calls the program's callback for the member, if has_member_callback().
void call_member_callback(const task& ended, const commtask_status& status) noexcept;

/// For lists of incomplete tasks: where a run in flight waits, and the call for which a deferred
/// member waits.
[[nodiscard]] std::string where_run_waits(const task& run);
[[nodiscard]] const char* call_that_makes_ready(const task& held) noexcept;

} // namespace commtask::detail
