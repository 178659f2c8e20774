// SPDX-License-Identifier: Apache-2.0
//
// Members in partitions, as plans record and change them. Each group of elements has a send or a
// receive; the sends are deferred. Behind the groups comes one member, which is the one that the
// program knows.
#pragma once

#include "core/plan.hpp"
#include "core/waiting.hpp"

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <cstddef>

namespace commtask::detail {

/// Records a member in partitions.
/// @param posted  its task in the first run, or null without memory
/// @return COMMTASK_OK, or a code with a sentence: the datatype has no size, or the tag is taken
/// @throws std::bad_alloc
[[nodiscard]] int add_partitioned(commtask_plan_s& into, plan_member&& whole, task*& posted);

/// Gives the member's groups the buffers of `wanted`. After try_change().
void rebind_groups(plan& of, const plan_member& whole, const commtask_op& wanted) noexcept;

/// Whether the plan has this member. @return COMMTASK_OK, or a code with a sentence
[[nodiscard]] int check_member(commtask_plan_t plan, std::size_t member) noexcept;

/// For a question that the program asks in a loop: where the worker shares its core, the question
/// also makes progress.
template <typename IsDone>
[[nodiscard]] bool poll_once(context& runtime, IsDone&& is_done) noexcept {
    if (is_done()) return true;
    if (!may_wait() || !runtime.should_make_progress()) return false;
    return wait_in_library(runtime.lanes(), runtime.waiting(), 1, is_done);
}

} // namespace commtask::detail
