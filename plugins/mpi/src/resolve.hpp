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

/// The pointers of one wrapper. They are pointers to functions; dlsym() gives such addresses as void*.
struct resolved_function {
    const char* profiling_name; ///< "PMPI_X"
    void** real;
    void** tool; ///< Stays null unless a tool's function comes next.
};

/// Sets all function pointers; written by generate.py.
void resolve_all() noexcept;

inline void resolve(const resolved_function& one) noexcept {
    void* const found = lookups::find(RTLD_NEXT, one.profiling_name);
    void* const next = lookups::find(RTLD_NEXT, one.profiling_name + 1);
    *one.real = found;
    Dl_info of_found{};
    Dl_info of_next{};
    if (found == nullptr || next == nullptr || next == found) return;
    if (dladdr(found, &of_found) == 0 || dladdr(next, &of_next) == 0) return;
    if (of_found.dli_fbase != of_next.dli_fbase) *one.tool = next;
}

} // namespace commtask::interposer
