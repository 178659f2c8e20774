// SPDX-License-Identifier: Apache-2.0
//
// Counts allocations of one thread. A program that links commtask_bench_allocations has malloc and its family replaced
// by ones that count and then do what the C library does; operator new and every shared library in the process go
// through them as well. Not to be combined with a sanitizer, which replaces the same functions.
#pragma once

#include <cstdint>

namespace commtask::bench {

/// Calls of malloc, calloc, realloc, memalign and friends, and of free with a pointer, by the calling thread so far.
[[nodiscard]] std::uint64_t allocation_calls_of_this_thread() noexcept;

} // namespace commtask::bench
