// SPDX-License-Identifier: Apache-2.0
//
// operator new of the program that links failing_memory.cpp: it counts, and fails while a test says so. MPI, which
// allocates in C, goes on undisturbed.
#pragma once

#include <cstdint>

namespace commtask::test {

/// While one of these lives, operator new fails on every thread.
class no_memory {
public:
    /// @param n_before  so many allocations succeed before
    explicit no_memory(int n_before = 0) noexcept;
    no_memory(const no_memory&) = delete;
    no_memory& operator=(const no_memory&) = delete;
    ~no_memory();
};

/// What operator new gave out and nobody gave back.
[[nodiscard]] std::int64_t live_allocations() noexcept;

} // namespace commtask::test
