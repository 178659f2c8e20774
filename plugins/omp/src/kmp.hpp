// SPDX-License-Identifier: Apache-2.0
//
// The entry points of LLVM's OpenMP runtime that clang calls for "#pragma omp task depend detach",
// declared here so that any compiler can create such a task: gcc's calls get no event from libomp.
// The entry points belong to the runtime's binary interface, on which compiled programs rely; they
// have not changed since detach was added (LLVM 11).
#pragma once

#include <cstddef>
#include <cstdint>

namespace commtask::omp {

extern "C" {

/// The source location of a construct; the runtime only passes it to tools.
struct kmp_ident {
    std::int32_t reserved_1;
    std::int32_t flags;
    std::int32_t reserved_2;
    std::int32_t reserved_3;
    const char* source;
};

using kmp_routine = std::int32_t (*)(std::int32_t thread, void* task);

/// The part of a task that compiled code may access; the task's private variables follow.
struct kmp_task {
    void* shareds;
    kmp_routine routine;
    std::int32_t part;
    union {
        std::int32_t unused;
        kmp_routine destructors; ///< Runs after the routine, and instead of it when the task is discarded.
    } first;
    union {
        std::int32_t priority;
        kmp_routine unused;
    } second;
};

struct kmp_depend {
    std::intptr_t address;
    std::size_t length;
    std::uint8_t kind;
};

std::int32_t __kmpc_global_thread_num(kmp_ident* where);
kmp_task* __kmpc_omp_task_alloc(kmp_ident* where, std::int32_t thread, std::int32_t flags, std::size_t size_bytes,
                                std::size_t shareds_bytes, kmp_routine routine);
void* __kmpc_task_allow_completion_event(kmp_ident* where, int thread, kmp_task* task);
std::int32_t __kmpc_omp_task_with_deps(kmp_ident* where, std::int32_t thread, kmp_task* task, std::int32_t n_depends,
                                       kmp_depend* depends, std::int32_t n_noalias, kmp_depend* noalias);
void __kmpc_taskgroup(kmp_ident* where, std::int32_t thread);
void __kmpc_end_taskgroup(kmp_ident* where, std::int32_t thread);
std::int32_t __kmpc_omp_taskyield(kmp_ident* where, std::int32_t thread, int end_part);
/// Called by a thread of the task's team, and not while the task's routine runs: the task may be
/// freed.
void __kmpc_proxy_task_completed(std::int32_t thread, kmp_task* task);
/// Called by any thread; the team completes the task later, from its queue.
void __kmpc_proxy_task_completed_ooo(kmp_task* task);
// OpenMP 5.0 and 5.2; gcc 12 does not declare them.
int omp_control_tool(int command, int modifier, void* argument);
int omp_in_explicit_task();
}

/// The result of omp_control_tool if no tool is active.
constexpr int kmp_no_tool = -2;

/// Flags of __kmpc_omp_task_alloc. Without `kmp_is_tied` a task is untied, as all tasks of this
/// library are (see task.cpp).
enum kmp_task_flag : std::int32_t {
    kmp_is_tied = 0x01,
    kmp_is_final = 0x02,
    kmp_has_destructors = 0x08,
    kmp_is_proxy = 0x10, ///< Complete after __kmpc_proxy_task_completed_ooo, not after its routine.
    kmp_has_priority = 0x20,
    kmp_is_detachable = 0x40,
    kmp_is_hidden_helper = 0x80, ///< Run by libomp's own threads, for devices.
};

/// Kinds of kmp_depend, as clang writes them.
enum kmp_depend_kind : std::uint8_t {
    kmp_depend_in = 1,
    kmp_depend_inout = 3, ///< Also out: the runtime treats both alike.
    kmp_depend_mutexinoutset = 4,
    kmp_depend_inoutset = 8,
};

} // namespace commtask::omp
