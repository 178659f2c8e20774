// SPDX-License-Identifier: Apache-2.0
//
// Comes before libomp's function of that name, whoever calls it. In a file of its own: where the compiler makes tasks it has
// its own idea of this function.
#include "counted_tasks.hpp"

#include <dlfcn.h>

#include <cstdint>

namespace {
thread_local std::size_t n_made = 0;
}

std::size_t omp_test::tasks_made_here() { return n_made; }

extern "C" [[gnu::visibility("default")]] void* __kmpc_omp_task_alloc(void* where, std::int32_t thread,
                                                                      std::int32_t flags, std::size_t size,
                                                                      std::size_t shareds, void* routine) {
    using function = void*(void*, std::int32_t, std::int32_t, std::size_t, std::size_t, void*);
    static auto* const make = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "__kmpc_omp_task_alloc"));
    ++n_made;
    return make(where, thread, flags, size, shareds, routine);
}
