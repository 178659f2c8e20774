// SPDX-License-Identifier: Apache-2.0
//
// Operations on windows: which communicator they go by, and their place in the epochs that a program opens and closes itself. On
// other windows nothing but the communicator is asked.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <cstdint>

namespace commtask::detail {

[[nodiscard]] int refuse_unregistered() noexcept;

/// Any thread. An operation on a window gets the window's communicator; others stay as they are.
/// @return COMMTASK_OK; ERR_WINDOW with a sentence: the window is not registered
[[nodiscard]] int give_channel(context& runtime, commtask_op& op) noexcept;

/// Any thread. Whether the operation may come at another time than its post says: not on a window with epochs of the
/// program's. @return COMMTASK_OK; ERR_ARGUMENT with a sentence
[[nodiscard]] int check_order(context& runtime, const commtask_op& op) noexcept;
/// Any thread. Takes the turn of an operation that is posted later; one on a window is entered in its book.
/// @param number  of the ticket, written on success; 0: the operation needs no turn
/// @return COMMTASK_OK, or why it may not come now
[[nodiscard]] int take_place(context& runtime, const commtask_op& op, std::uint32_t flags, const source_place& where,
                             comm_queue& queue, std::uint64_t& number) noexcept;
/// Any thread. Such an operation has been posted, or never will be. Nothing where the communicator is no window's.
void settle_place(context& runtime, MPI_Comm channel, std::uint64_t number, bool is_posted) noexcept;

} // namespace commtask::detail
