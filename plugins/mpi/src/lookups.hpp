// SPDX-License-Identifier: Apache-2.0
//
// The loader's own functions, for the library itself: in it the names dlsym, dlvsym and dlopen are the ones that answer the program
// (lookups.cpp), and RTLD_NEXT has to mean what comes after this library.
#pragma once

namespace commtask::interposer::lookups {

/// The loader's dlsym, for this library: RTLD_NEXT is what comes after it.
[[nodiscard]] void* find(void* handle, const char* name) noexcept;

/// Whether the program has opened a library that calls MPI past the wrappers.
[[nodiscard]] bool are_passed_by() noexcept;

} // namespace commtask::interposer::lookups
