// SPDX-License-Identifier: Apache-2.0
//
// Which queue an operation goes to on a communicator that several lanes serve. A post asks before it checks arguments, since the
// queue is where it looks for what is right; one branch tells it whether there is anything to ask.
#pragma once

#include "core/comm_striping.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

/// Any thread that posts, with the queue of the operation's communicator, which has a striping. The task is one of the new queue's
/// communicator.
/// @param ticket  null: it has none
/// @return COMMTASK_OK; ERR_ARGUMENT with a sentence: the operation breaks what was promised of the communicator
[[nodiscard]] int find_way(const commtask_op& op, const commtask_ticket* ticket, comm_queue*& queue) noexcept;

/// Of a communicator that may have a spread: the queue that the ticket was taken in, or the first.
[[nodiscard]] comm_queue& queue_of_ticket(comm_queue& first, const commtask_ticket& ticket) noexcept;

} // namespace commtask::detail
