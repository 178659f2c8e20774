// SPDX-License-Identifier: Apache-2.0
//
// Partitioned members, as plans record and change them. Each group of elements is a send or a
// receive; the sends are deferred. The groups are followed by one member, the only one that the
// program sees.
#pragma once

#include "core/plan.hpp"
#include "core/waiting.hpp"

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <cstddef>

namespace commtask::detail {

/// Records a partitioned member.
/// @param posted  receives its task in the first run, null if memory is exhausted
/// @return COMMTASK_OK, or an error code with a message: the datatype has no size, or the tag is in
/// use
/// @throws std::bad_alloc
[[nodiscard]] int add_partitioned(commtask_plan_s& into, plan_member&& whole, task*& posted);

/// Replaces the buffers of the member's groups by those of `wanted`. Called after try_change().
void rebind_groups(plan& of, const plan_member& whole, const commtask_op& wanted) noexcept;

/// @return COMMTASK_OK if the plan has this member, otherwise an error code with a message
[[nodiscard]] int check_member(commtask_plan_t plan, std::size_t member) noexcept;

/// For a test that the program repeats in a loop: with a shared worker, the test also makes
/// progress.
template <typename IsDone>
[[nodiscard]] bool poll_once(context& runtime, IsDone&& is_done) noexcept {
    if (is_done()) return true;
    if (!may_wait() || !runtime.should_make_progress()) return false;
    return wait_in_library(runtime.lanes(), runtime.waiting(), 1, is_done);
}

} // namespace commtask::detail
