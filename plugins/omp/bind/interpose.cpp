// SPDX-License-Identifier: Apache-2.0
//
// libcommtask-omp-bind: precedes libomp in symbol lookup and forwards the creation of tasks to
// libcommtask-omp. It is a separate library, so that only programs that link or preload it have
// bound tasks. It has no symbol versions: programs look up these functions by libomp's version, and
// a library without versions matches every version.
#include "binding.hpp"

#include <commtask/omp_entries.h>

#include <dlfcn.h>

using namespace commtask::omp;

#define COMMTASK_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace {

template <typename Function>
void find(Function*& function, const char* name) noexcept {
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const commtask_omp_entries* bind() noexcept;

/// Set when this library is loaded, or by the first task that a constructor of another library
/// creates before that.
const commtask_omp_entries* entries = bind();

const commtask_omp_entries& bound() noexcept {
    if (entries == nullptr) {
        entries = bind();
    }
    return *entries;
}

} // namespace

COMMTASK_INTERPOSED kmp_task* __kmpc_omp_task_alloc(kmp_ident* where, std::int32_t thread, std::int32_t flags,
                                                    std::size_t size_bytes, std::size_t shareds_bytes,
                                                    kmp_routine routine) {
    return bound().task_alloc(where, thread, flags, size_bytes, shareds_bytes, routine);
}

COMMTASK_INTERPOSED std::int32_t __kmpc_omp_task(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    return bound().task(where, thread, task);
}

COMMTASK_INTERPOSED void __kmpc_omp_task_begin_if0(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    bound().begin_if0(where, thread, task);
}

COMMTASK_INTERPOSED void __kmpc_omp_task_complete_if0(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    bound().complete_if0(where, thread, task);
}

COMMTASK_INTERPOSED void __kmpc_taskloop(kmp_ident* where, int thread, kmp_task* task, int if_value,
                                         std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, int no_group,
                                         int schedule, std::uint64_t size, void* duplicate) {
    bound().taskloop(where, thread, task, if_value, lower, upper, step, no_group, schedule, size, duplicate);
}

COMMTASK_INTERPOSED void __kmpc_taskloop_5(kmp_ident* where, int thread, kmp_task* task, int if_value,
                                           std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, int no_group,
                                           int schedule, std::uint64_t size, int is_strict, void* duplicate) {
    bound().taskloop_5(where, thread, task, if_value, lower, upper, step, no_group, schedule, size, is_strict,
                       duplicate);
}

COMMTASK_INTERPOSED void GOMP_task(gomp_body body, void* arguments, gomp_copy copy, long size_bytes, long alignment,
                                   bool if_value, unsigned flags, void** depends, int priority, void* detach) {
    bound().gomp_task(body, arguments, copy, size_bytes, alignment, if_value, flags, depends, priority, detach);
}

COMMTASK_INTERPOSED void GOMP_taskloop(gomp_body body, void* arguments, gomp_copy copy, long size_bytes, long alignment,
                                       unsigned flags, unsigned long size, int priority, long first, long end,
                                       long step) {
    bound().gomp_taskloop(body, arguments, copy, size_bytes, alignment, flags, size, priority, first, end, step);
}

COMMTASK_INTERPOSED void GOMP_taskloop_ull(gomp_body body, void* arguments, gomp_copy copy, long size_bytes,
                                           long alignment, unsigned flags, unsigned long size, int priority,
                                           unsigned long long first, unsigned long long end, unsigned long long step) {
    bound().gomp_taskloop_ull(body, arguments, copy, size_bytes, alignment, flags, size, priority, first, end, step);
}

namespace {

const commtask_omp_entries* bind() noexcept {
    commtask_omp_entries runtime{};
    find(runtime.task_alloc, "__kmpc_omp_task_alloc");
    find(runtime.task, "__kmpc_omp_task");
    find(runtime.begin_if0, "__kmpc_omp_task_begin_if0");
    find(runtime.complete_if0, "__kmpc_omp_task_complete_if0");
    find(runtime.taskloop, "__kmpc_taskloop");
    find(runtime.taskloop_5, "__kmpc_taskloop_5");
    find(runtime.gomp_task, "GOMP_task");
    find(runtime.gomp_taskloop, "GOMP_taskloop");
    find(runtime.gomp_taskloop_ull, "GOMP_taskloop_ull");
    return commtask_omp_bind_(&runtime, &entries);
}

} // namespace
