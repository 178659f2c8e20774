// SPDX-License-Identifier: Apache-2.0
//
// The library's messages on stderr. Each line begins with the rank, since lines of many ranks are
// mixed. The rank is a global variable, so that a message can be written without a context.
#pragma once

#include <string_view>

namespace commtask::detail {

/// Sets the rank in MPI_COMM_WORLD. Called before any thread of the library writes a message.
void set_log_rank(int rank) noexcept;

/// The beginning of each line: "commtask: rank 3: ", or "commtask: " before set_log_rank().
[[nodiscard]] std::string_view log_prefix() noexcept;

/// Writes one line by one call. Special characters are escaped (base/printable.hpp).
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace commtask::detail
