// SPDX-License-Identifier: Apache-2.0
//
// Every task of the user is made detachable and runs through a trampoline, which knows the current
// task. libomp completes a detachable task without an event like any other task, and can give it an
// event as late as in its body; the task's completion then waits for that event. A task that starts
// no operation costs a few stores at its creation and when it runs. See docs/adr/0014.
#include "binding.hpp"

#include "announce.hpp"
#include "bound_task.hpp"
#include "kmp_task.hpp"
#include "wait.hpp"

#include <commtask/omp_entries.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace commtask::omp {
namespace {

constinit std::atomic<bool> are_all_untied{false};
commtask_omp_entries runtime{}; // written once, while libcommtask-omp-bind is loaded

// initial-exec: access needs no call; it is accessed twice in every task.
__attribute__((tls_model("initial-exec"))) thread_local constinit running_task* innermost = nullptr;

constexpr std::size_t round_up(std::size_t size_bytes) noexcept {
    return (size_bytes + alignof(task_binding) - 1) / alignof(task_binding) * alignof(task_binding);
}

/// libomp stores a task's shared data right after the task, so the end of the task is known even if
/// its size is not.
task_binding& binding_of(const kmp_task* task) noexcept {
    return *std::launder(reinterpret_cast<task_binding*>(task->shareds) - 1);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COMMTASK_UNDER_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define COMMTASK_UNDER_TSAN 1
#endif

#ifdef COMMTASK_UNDER_TSAN
/// libomp does not report two facts to a race checker: the order between the thread that completes
/// a task and the task's dependents, and which thread reuses the task's memory.
std::atomic<unsigned> n_completed{0};
void release_completed() noexcept { n_completed.fetch_add(1, std::memory_order_release); }
void acquire_completed() noexcept { (void)n_completed.load(std::memory_order_acquire); }
#else
void release_completed() noexcept {}
void acquire_completed() noexcept {}
#endif

std::int32_t run_bound(std::int32_t thread, void* argument) {
    acquire_completed();
    auto* const task = static_cast<kmp_task*>(argument);
    task_binding& binding = binding_of(task);
    running_task self{task, &binding, innermost, omp_get_level(), false};
    innermost = &self;
    const std::int32_t code = binding.routine(thread, task);
    innermost = self.outer;
    // A part of an untied task may run on another thread while the previous part returns: the last
    // part ends the body. relaxed: only parts of the body, which follow each other, set it to a
    // nonzero value.
    if (!self.continues && binding.n_open.load(std::memory_order_relaxed) != 0) {
        binding.end_body();
    }
    return code;
}

std::int32_t bound_task(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    if (innermost != nullptr && innermost->task == task) {
        innermost->continues = true;
    }
    return runtime.task(where, thread, task);
}

bool is_bound(const kmp_task* task) noexcept { return task->routine == &run_bound; }

// With a false if clause, the compiled code itself calls the body between these two functions.
void bound_begin_if0(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    if (is_bound(task)) {
        task_binding& binding = binding_of(task);
        binding.end = task_end::waits_if0;
        binding.undeferred = {task, &binding, innermost, omp_get_level(), false};
        innermost = &binding.undeferred;
    }
    runtime.begin_if0(where, thread, task);
}

void bound_complete_if0(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    if (is_bound(task)) {
        task_binding& binding = binding_of(task);
        innermost = binding.undeferred.outer;
        if (binding.n_open.load(std::memory_order_relaxed) != 0) { // as in run_bound()
            binding.end_body();
        }
    }
    runtime.complete_if0(where, thread, task);
}

} // namespace

void set_entries_of_runtime(const commtask_omp_entries& found) noexcept { runtime = found; }

const commtask_omp_entries& bound_entries() noexcept {
    static constexpr commtask_omp_entries bound{&bound_task_alloc,   &bound_task,          &bound_begin_if0,
                                                &bound_complete_if0, &bound_taskloop,      &bound_taskloop_5,
                                                &bound_gomp_task,    &bound_gomp_taskloop, &bound_gomp_taskloop_ull};
    return bound;
}

running_task* innermost_task() noexcept { return innermost; }

const commtask_omp_entries& entries_of_runtime() noexcept { return runtime; }

void complete(omp_event_handle_t event) noexcept {
    release_completed();
    omp_fulfill_event(event);
}

kmp_task* bound_task_alloc(kmp_ident* where, std::int32_t thread, std::int32_t flags, std::size_t size_bytes,
                           std::size_t shareds_bytes, kmp_routine routine) {
    if (where == &task_ident || (flags & (kmp_is_proxy | kmp_is_hidden_helper)) != 0) {
        return runtime.task_alloc(where, thread, flags, size_bytes, shareds_bytes, routine);
    }
    std::int32_t made_with = flags | kmp_is_detachable;
    task_end end = (flags & kmp_is_detachable) != 0 ? task_end::waits_event : task_end::is_delayed;
    // relaxed: a flag that orders nothing.
    if (innermost != nullptr || are_all_untied.load(std::memory_order_relaxed)) {
        if (innermost != nullptr && omp_get_num_threads() == 1 && omp_in_explicit_task() != 0) {
            // In a team of one thread libomp would count such a task twice for its parent,
            // decrement the count once, and never free the parent.
            made_with = flags;
            end = end == task_end::is_delayed ? task_end::waits_serial : end;
        } else {
            // Tied tasks that another thread completes can deadlock if their creators wait for them
            // (docs/adr/0014).
            made_with &= ~kmp_is_tied;
        }
    }
    const std::size_t begin = round_up(size_bytes);
    kmp_task* const task = runtime.task_alloc(where, thread, made_with, begin + sizeof(task_binding),
                                              std::max<std::size_t>(shareds_bytes, 1), &run_bound);
    acquire_completed();
    auto* const binding = ::new (reinterpret_cast<std::byte*>(task) + begin) task_binding;
    binding->routine = routine;
    binding->flags = flags;
    binding->size_bytes = size_bytes;
    binding->shareds_bytes = shareds_bytes;
    binding->end = end;
    return task;
}

kmp_task* copy_of_bound_task(kmp_ident* where, std::int32_t thread, kmp_task* from) {
    const task_binding& binding = binding_of(from);
    kmp_task* const copy =
        bound_task_alloc(where, thread, binding.flags, binding.size_bytes, binding.shareds_bytes, binding.routine);
    void* const shareds = copy->shareds;
    std::memcpy(shareds, from->shareds, binding.shareds_bytes);
    std::memcpy(static_cast<void*>(copy), from, binding.size_bytes);
    copy->shareds = shareds;
    return copy;
}

void discard_bound_task(kmp_ident* where, std::int32_t thread, kmp_task* task) {
    runtime.begin_if0(where, thread, task);
    runtime.complete_if0(where, thread, task);
}

void make_undeferred(kmp_task* task) noexcept {
    if (is_bound(task)) {
        binding_of(task).end = task_end::waits_if0;
    }
}

} // namespace commtask::omp

void commtask_omp_untie_(void) noexcept {
    commtask::omp::are_all_untied.store(true, std::memory_order_relaxed);
    (void)commtask::omp::tool::begin_mutexes();
}

int commtask_omp_binds_mutex_(void) noexcept { return commtask::omp::has_mutex() ? 1 : 0; }
