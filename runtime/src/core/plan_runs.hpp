// SPDX-License-Identifier: Apache-2.0
//
// Functions of the engine for runs of plans and their members. Only plan_runs.cpp includes both
// plans and lanes; a plan knows no lane.
#pragma once

#include "core/task.hpp"

#include <commtask/commtask.h>

#include <string>

namespace commtask::detail {

/// Whether the task is a member of a plan with a callback for members (commtask_plan_on_member).
[[nodiscard]] bool has_member_callback(const task& ended) noexcept;
/// Calls that callback. Only if has_member_callback().
void call_member_callback(const task& ended, const commtask_status& status) noexcept;

/// For lists of incomplete tasks: what a run in flight waits for, and the call for which a deferred
/// member waits.
[[nodiscard]] std::string where_run_waits(const task& run);
[[nodiscard]] const char* call_that_makes_ready(const task& held) noexcept;

} // namespace commtask::detail
