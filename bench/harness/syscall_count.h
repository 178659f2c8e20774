// SPDX-License-Identifier: Apache-2.0
//
// Counts the system calls of one thread, without root, tracer or kernel tracing: a seccomp filter on that thread turns
// each into a signal, whose handler counts it and then makes the call itself. Code that makes no system call runs at
// full speed. The filter stays until the thread ends, so a check runs in a thread of its own.
#pragma once

#include <cstdint>
#include <string>

namespace commtask::bench {

/// Puts the filter on the calling thread. Empty when it stands, else one sentence on why it cannot here.
[[nodiscard]] std::string watch_system_calls_of_this_thread();

/// Calls since the filter was put on the (one) watched thread. Reading it makes none.
[[nodiscard]] std::uint64_t system_calls_seen() noexcept;

/// Number of the last call seen, as in <sys/syscall.h>; -1 before the first.
[[nodiscard]] int last_system_call_seen() noexcept;

} // namespace commtask::bench
