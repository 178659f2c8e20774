// SPDX-License-Identifier: Apache-2.0
//
// Starting a plan has an entry point of its own, since it needs none of the steps of an ordinary
// post. commtask_op_plan describes the start where a program or a front end passes an operation.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

[[nodiscard]] inline bool starts_plan(const commtask_op& op) noexcept { return op.kind == COMMTASK_OP_PLAN; }

/// Any thread.
/// @param start  commtask_op_plan. A start by the interposer is not recorded, even if the thread
/// records
/// @return COMMTASK_OK, or an error code with a message
[[nodiscard]] int start_plan(context& runtime, const commtask_op& start, const commtask_options* options,
                             commtask_t* task) noexcept;

} // namespace commtask::detail
