// SPDX-License-Identifier: Apache-2.0
//
// Members in partitions, as plans record and change them: a send or receive for each group of elements, held if it is sent, and
// one member behind them that the program knows.
#pragma once

#include "core/plan.hpp"
#include "core/waiting.hpp"

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <cstddef>

namespace commtask::detail {

/// Records one. @param posted  its task in the first run, or null without memory
/// @return COMMTASK_OK, or a code with a sentence: its datatype has no size, or its tag is taken
/// @throws std::bad_alloc
[[nodiscard]] int add_partitioned(commtask_plan_s& into, plan_member&& whole, task*& posted);

/// Gives its groups the buffers of `wanted`. After try_change().
void rebind_groups(plan& of, const plan_member& whole, const commtask_op& wanted) noexcept;

/// Whether a plan has such a member. @return COMMTASK_OK, or a code with a sentence
[[nodiscard]] int check_member(commtask_plan_t plan, std::size_t member) noexcept;

/// For questions that come in a loop: where the worker shares its core, asking must bring the answer forward.
template <typename IsDone>
[[nodiscard]] bool look_once(context& runtime, IsDone&& is_done) noexcept {
    if (is_done()) return true;
    if (!may_wait() || !runtime.should_make_progress()) return false;
    return wait_in_library(runtime.lanes(), runtime.waiting(), 1, is_done);
}

} // namespace commtask::detail
