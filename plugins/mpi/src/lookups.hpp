// SPDX-License-Identifier: Apache-2.0
//
// The loader's own functions, for use in this library. Here the names dlsym, dlvsym and dlopen mean
// the functions that the program calls (lookups.cpp), and RTLD_NEXT must mean the libraries after
// this one.
#pragma once

namespace commtask::interposer::lookups {

/// The loader's dlsym, called from this library: RTLD_NEXT means the libraries after it.
[[nodiscard]] void* find(void* handle, const char* name) noexcept;

/// Whether the program has opened a library whose MPI calls bypass the wrappers.
[[nodiscard]] bool are_bypassed() noexcept;

} // namespace commtask::interposer::lookups
