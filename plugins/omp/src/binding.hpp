// SPDX-License-Identifier: Apache-2.0
//
// The entry points of the OpenMP runtime that libcommtask-omp-bind interposes, and the runtime's
// own. libcommtask-omp-bind precedes libomp in symbol lookup and forwards the calls here; programs
// without it never call these functions.
#pragma once

#include "gomp.hpp"
#include "kmp.hpp"

#include <cstdint>

namespace commtask::omp {

extern "C" {

using kmp_task_duplicate = void (*)(kmp_task* to, kmp_task* from, std::int32_t is_last);

using kmp_taskloop_entry = void(kmp_ident* where, int thread, kmp_task* task, int if_value, std::uint64_t* lower,
                                std::uint64_t* upper, std::int64_t step, int no_group, int schedule, std::uint64_t size,
                                void* duplicate);
using kmp_taskloop_5_entry = void(kmp_ident* where, int thread, kmp_task* task, int if_value, std::uint64_t* lower,
                                  std::uint64_t* upper, std::int64_t step, int no_group, int schedule,
                                  std::uint64_t size, int is_strict, void* duplicate);
}
} // namespace commtask::omp

/// The interposed functions: one table has the runtime's functions, another one this library's.
struct commtask_omp_entries {
    decltype(&commtask::omp::__kmpc_omp_task_alloc) task_alloc;
    std::int32_t (*task)(commtask::omp::kmp_ident* where, std::int32_t thread, commtask::omp::kmp_task* task);
    void (*begin_if0)(commtask::omp::kmp_ident* where, std::int32_t thread, commtask::omp::kmp_task* task);
    void (*complete_if0)(commtask::omp::kmp_ident* where, std::int32_t thread, commtask::omp::kmp_task* task);
    commtask::omp::kmp_taskloop_entry* taskloop;
    commtask::omp::kmp_taskloop_5_entry* taskloop_5;
    commtask::omp::gomp_task_entry* gomp_task;
    commtask::omp::gomp_taskloop_entry* gomp_taskloop;
    commtask::omp::gomp_taskloop_ull_entry* gomp_taskloop_ull;
};

namespace commtask::omp {

/// This library's entries.
[[nodiscard]] const commtask_omp_entries& bound_entries() noexcept;

/// The runtime's own entries.
void set_entries_of_runtime(const commtask_omp_entries& found) noexcept;
[[nodiscard]] const commtask_omp_entries& entries_of_runtime() noexcept;

/// Replaces __kmpc_omp_task_alloc for tasks of the user.
[[nodiscard]] kmp_task* bound_task_alloc(kmp_ident* where, std::int32_t thread, std::int32_t flags,
                                         std::size_t size_bytes, std::size_t shareds_bytes, kmp_routine routine);

/// Makes a task with the data of another task that has not run.
[[nodiscard]] kmp_task* copy_of_bound_task(kmp_ident* where, std::int32_t thread, kmp_task* from);

/// Makes the task undeferred: its body waits for the operations that it starts.
void make_undeferred(kmp_task* task) noexcept;

/// Replace __kmpc_taskloop and __kmpc_taskloop_5.
kmp_taskloop_entry bound_taskloop;
kmp_taskloop_5_entry bound_taskloop_5;

/// Ends a bound task that has not run, without running it.
void discard_bound_task(kmp_ident* where, std::int32_t thread, kmp_task* task);

} // namespace commtask::omp
