// SPDX-License-Identifier: Apache-2.0
//
// The entry points for tasks that code from gcc calls, which libomp provides too. For bound tasks
// this library calls libomp's own entry points instead: libomp's gcc entry points create tasks
// internally, where no other library can intercept the creation.
#pragma once

#include <cstdint>

namespace commtask::omp {

extern "C" {

using gomp_body = void (*)(void* arguments);
using gomp_copy = void (*)(void* to, void* from);

using gomp_task_entry = void(gomp_body body, void* arguments, gomp_copy copy, long size_bytes, long alignment,
                             bool if_value, unsigned flags, void** depends, int priority, void* detach);
using gomp_taskloop_entry = void(gomp_body body, void* arguments, gomp_copy copy, long size_bytes, long alignment,
                                 unsigned flags, unsigned long size, int priority, long first, long end, long step);
using gomp_taskloop_ull_entry = void(gomp_body body, void* arguments, gomp_copy copy, long size_bytes, long alignment,
                                     unsigned flags, unsigned long size, int priority, unsigned long long first,
                                     unsigned long long end, unsigned long long step);
}

gomp_task_entry bound_gomp_task;
gomp_taskloop_entry bound_gomp_taskloop;
gomp_taskloop_ull_entry bound_gomp_taskloop_ull;

} // namespace commtask::omp
