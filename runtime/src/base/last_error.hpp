// SPDX-License-Identifier: Apache-2.0
//
// The message for a negative return code, kept for each thread. Written into thread-local memory of
// fixed size, so an error allocates nothing.
#pragma once

#include <commtask/types.h>

namespace commtask::detail {

/// Stores a message, and returns the code: `return refuse(COMMTASK_ERR_TAG, "tag is %d", tag);`
[[gnu::format(printf, 2, 3)]] int refuse(int code, const char* format, ...) noexcept;

/// Stores the result of commtask_init, and this thread's last message: later calls on any thread
/// report it.
void remember_init(int code) noexcept;

/// Stores the message that there is no runtime, and why commtask_init failed, if it did.
/// @return COMMTASK_ERR_NOT_INITIALIZED
int refuse_without_runtime() noexcept;

/// The last message of this thread.
[[nodiscard]] const char* last_message() noexcept;

} // namespace commtask::detail
