// SPDX-License-Identifier: Apache-2.0
//
// The sentence behind a negative code, kept per thread. It is written only when something is refused, into memory that
// the thread owns already, so refusing allocates nothing.
#pragma once

#include <commtask/types.h>

namespace commtask::detail {

/// Remembers a sentence, printf-style, and passes the code on: `return refuse(COMMTASK_ERR_TAG, "tag is %d", tag);`
[[gnu::format(printf, 2, 3)]] int refuse(int code, const char* format, ...) noexcept;

/// What commtask_init came to, with the last sentence of this thread: those who then use the library hear of it.
void remember_init(int code) noexcept;

/// There is no runtime: with why commtask_init was refused, if it was. @return COMMTASK_ERR_NOT_INITIALIZED
int refuse_without_runtime() noexcept;

/// The last sentence of this thread.
[[nodiscard]] const char* last_sentence() noexcept;

} // namespace commtask::detail
