// SPDX-License-Identifier: Apache-2.0
//
// The message for a negative code, kept for each thread. It is written only when a call is refused,
// into memory that the thread has already, so a refusal allocates nothing.
#pragma once

#include <commtask/types.h>

namespace commtask::detail {

/// Stores a message, printf-style, and returns the code: `return refuse(COMMTASK_ERR_TAG, "tag is
/// %d", tag);`
[[gnu::format(printf, 2, 3)]] int refuse(int code, const char* format, ...) noexcept;

/// Stores the result of commtask_init, and the last message of this thread: later calls of the
/// library on any thread report it.
void remember_init(int code) noexcept;

/// Reports that there is no runtime, and why commtask_init was refused, if it was.
/// @return COMMTASK_ERR_NOT_INITIALIZED
int refuse_without_runtime() noexcept;

/// The last message of this thread.
[[nodiscard]] const char* last_message() noexcept;

} // namespace commtask::detail
