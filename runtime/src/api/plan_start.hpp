// SPDX-License-Identifier: Apache-2.0
//
// The start of a plan has an entry point of its own: it needs no step of a post of one operation.
// commtask_op_plan names the start where a program or a front end passes an operation.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

[[nodiscard]] inline bool starts_plan(const commtask_op& op) noexcept { return op.kind == COMMTASK_OP_PLAN; }

/// Any thread.
/// @param start  commtask_op_plan; a call of the interposer's is started also while the thread
/// records
/// @return COMMTASK_OK, or a code with a sentence
[[nodiscard]] int start_plan(context& runtime, const commtask_op& start, const commtask_options* options,
                             commtask_t* task) noexcept;

} // namespace commtask::detail
