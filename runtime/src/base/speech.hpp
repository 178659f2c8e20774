// SPDX-License-Identifier: Apache-2.0
//
// What the library says on stderr. Lines of many ranks come mixed, so each begins with the rank. Which one this process is
// does not change, and whoever has something to say must not need a context for it.
#pragma once

#include <string_view>

namespace commtask::detail {

/// The process is this rank of MPI_COMM_WORLD. Before its threads have something to say.
void introduce(int rank) noexcept;

/// How a line begins: "commtask: rank 3: "; without the rank before introduce().
[[nodiscard]] std::string_view opening() noexcept;

/// A line, in one piece; what base/printable.hpp escapes is escaped.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace commtask::detail
