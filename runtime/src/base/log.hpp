// SPDX-License-Identifier: Apache-2.0
//
// The library's messages on stderr. Lines of many ranks are mixed, so each line begins with the
// rank. The rank does not change, and a function that writes a message must not need a context for
// it.
#pragma once

#include <string_view>

namespace commtask::detail {

/// Sets the rank of the process in MPI_COMM_WORLD. Called before any thread of the library writes a
/// message.
void set_log_rank(int rank) noexcept;

/// The beginning of a line: "commtask: rank 3: "; without the rank before set_log_rank().
[[nodiscard]] std::string_view log_prefix() noexcept;

/// Writes one line, in one piece. base/printable.hpp says which characters are escaped.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace commtask::detail
