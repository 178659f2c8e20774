// SPDX-License-Identifier: Apache-2.0
//
// Finds the real function behind each wrapper, and a profiling tool that is linked to the program
// and comes after this library in the loader's order. Such a tool defines MPI_X, calls PMPI_X, and
// expects to be called first. The loader finds this library's MPI_X before the tool's. This
// library's MPI_X therefore calls the tool, which then calls this library's PMPI_X.
#pragma once

#include "lookups.hpp"

#include <dlfcn.h>

namespace commtask::interposer {

/// Sets all function pointers; written by generate.py.
void resolve_all() noexcept;

/// @param profiling_name  "PMPI_X"
template <typename Function>
void resolve(const char* profiling_name, Function& real, Function& tool) noexcept {
    void* const found = lookups::find(RTLD_NEXT, profiling_name);
    real = reinterpret_cast<Function>(found);
    void* const next = lookups::find(RTLD_NEXT, profiling_name + 1);
    Dl_info of_real{};
    Dl_info of_next{};
    if (found == nullptr || next == nullptr || next == found) return;
    if (dladdr(found, &of_real) == 0 || dladdr(next, &of_next) == 0) return;
    if (of_real.dli_fbase != of_next.dli_fbase) tool = reinterpret_cast<Function>(next);
}

} // namespace commtask::interposer
