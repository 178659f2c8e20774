// SPDX-License-Identifier: Apache-2.0
//
// An OpenMP task that this library itself creates: a payload, a body, and optionally an event that
// completes it. A thin layer over kmp.hpp, so that the rest of the front end does not depend on the
// runtime's task layout.
#pragma once

#include "announce.hpp"
#include "kmp.hpp"

#include <omp.h>

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace commtask::omp {

inline kmp_ident task_ident{0, 2, 0, 0, ";commtask;commtask;0;0;;"};

/// A task with a Payload. `Payload::run()` is its body; `Payload::end()` is called after the body,
/// or instead of it if the task is discarded (its taskgroup was cancelled). The payload exists
/// until the task has completed.
template <typename Payload>
class kmp_task_of {
public:
    static_assert(std::is_trivially_destructible_v<Payload>, "the runtime frees the payload without asking");
    static_assert(alignof(Payload) <= 8, "the runtime aligns payloads as it aligns pointers");

    /// Allocates a task that libomp's scheduler does not know yet.
    kmp_task_of(std::int32_t extra_flags, Payload payload) noexcept
        : thread_(__kmpc_global_thread_num(&task_ident)),
          task_(__kmpc_omp_task_alloc(&task_ident, thread_, kmp_has_destructors | extra_flags,
                                      sizeof(kmp_task) + sizeof(Payload), 0, &run)) {
        ::new (static_cast<void*>(task_ + 1)) Payload(std::move(payload));
        task_->first.destructors = &end;
    }

    [[nodiscard]] Payload& payload() noexcept { return payload_of(task_); }

    /// The payload of the task with this identity().
    static Payload& payload_of(void* task) noexcept {
        return *std::launder(reinterpret_cast<Payload*>(static_cast<kmp_task*>(task) + 1));
    }

    /// An address that no other task has, for dependences between tasks of this library.
    [[nodiscard]] kmp_task* identity() const noexcept { return task_; }

    void set_priority(int priority) noexcept { task_->second.priority = priority; }

    /// The event that completes the task; only with kmp_is_detachable, and before submit().
    [[nodiscard]] omp_event_handle_t event() noexcept {
        return static_cast<omp_event_handle_t>(
            reinterpret_cast<std::uintptr_t>(__kmpc_task_allow_completion_event(&task_ident, thread_, task_)));
    }

    /// Submits the task to the scheduler, which may run this task and others before the call
    /// returns.
    /// @param posted  the operation, if the task is a communication task.
    void submit(std::int32_t n_depends, kmp_depend* depends, posted_operation posted = {}) noexcept {
        tool::announce(posted);
        __kmpc_omp_task_with_deps(&task_ident, thread_, task_, n_depends, depends, 0, nullptr);
    }

private:
    static std::int32_t run(std::int32_t /*thread*/, void* task) noexcept {
        payload_of(task).run();
        return 0;
    }
    static std::int32_t end(std::int32_t /*thread*/, void* task) noexcept {
        payload_of(task).end();
        return 0;
    }

    std::int32_t thread_;
    kmp_task* task_;
};

/// Must precede the moment at which another thread may fulfil an event of a task with a priority.
/// libomp 14 to 22 then puts the task into the queue of any thread of the team, and searches without
/// end if no thread has a queue. A thread gets one with its first deferred task of priority 0, so an
/// empty task is created here if tasks can have priorities (OMP_MAX_TASK_PRIORITY).
inline void ensure_task_queue() noexcept {
    struct empty {
        void run() noexcept {}
        void end() noexcept {}
    };
    if (omp_get_max_task_priority() > 0) kmp_task_of<empty>(0, {}).submit(0, nullptr);
}

} // namespace commtask::omp
