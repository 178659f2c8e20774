// SPDX-License-Identifier: Apache-2.0
//
// Operations on windows: the communicator of each, and its position in the epochs that a program
// manages. For other windows only the communicator is looked up.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <cstdint>

namespace commtask::detail {

[[nodiscard]] int refuse_unregistered() noexcept;

/// Any thread. Sets the communicator of an operation on a window to the window's own; does not
/// change other operations.
/// @return COMMTASK_OK; ERR_WINDOW with a message: the window is not registered
[[nodiscard]] int give_channel(context& runtime, commtask_op& op) noexcept;

/// Any thread. Whether the operation may start at another time than that of its post. On a window
/// whose epochs the program manages it may not.
/// @return COMMTASK_OK; ERR_ARGUMENT with a message
[[nodiscard]] int check_order(context& runtime, const commtask_op& op) noexcept;
/// Any thread. Takes the turn of an operation that is posted later. An operation on a window is
/// entered in the window's epoch log.
/// @param number  of the ticket, written on success; 0: the operation needs no turn
/// @return COMMTASK_OK, or an error code if the operation is not allowed now
[[nodiscard]] int take_place(context& runtime, const commtask_op& op, std::uint32_t flags, const source_location& where,
                             comm_queue& queue, std::uint64_t& number) noexcept;
/// Any thread. The operation of a ticket was posted, or never will be. Does nothing if `channel` is
/// not a window's communicator.
void settle_place(context& runtime, MPI_Comm channel, std::uint64_t number, bool is_posted) noexcept;

} // namespace commtask::detail
