// SPDX-License-Identifier: Apache-2.0
//
// Chooses the queue of an operation on a communicator that several lanes serve. A post chooses
// before it checks arguments, since the checks need the queue. For a communicator without striping
// this costs one branch.
#pragma once

#include "core/comm_striping.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

/// Any thread that posts. On entry `queue` is the queue of the operation's communicator, which is
/// striped; on return the task belongs to the communicator of the new queue.
/// @param ticket  null: it has none
/// @return COMMTASK_OK; ERR_ARGUMENT with a message: the operation violates an assertion in the
/// communicator's info
[[nodiscard]] int find_way(const commtask_op& op, const commtask_ticket* ticket, comm_queue*& queue) noexcept;

/// For a communicator that may be striped: the queue in which the ticket was taken, or the first
/// one.
[[nodiscard]] comm_queue& queue_of_ticket(comm_queue& first, const commtask_ticket& ticket) noexcept;

} // namespace commtask::detail
