// SPDX-License-Identifier: Apache-2.0
//
// A user's task that was created through libcommtask-omp-bind (binding.cpp), with data that the
// library stores after the task's own: operations that its body starts can delay its completion.
// One event serves any number of operations. Each operation counts once, and so does the body; the
// thread that decrements the count to zero completes the task.
#pragma once

#include "kmp.hpp"

#include <mpi.h>
#include <omp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace commtask::omp {

/// How a task that started operations ends after its body.
enum class task_end : std::uint8_t {
    is_delayed, ///< The last operation completes the task.
    /// Waits in the body: a final task runs at once, and libomp does not let it wait for an event.
    waits_final,
    waits_if0, ///< Waits in the body: a task with a false if clause runs at once too.
    /// Waits in the body: created by an explicit task in a team of one thread, where libomp counts
    /// such tasks wrongly.
    waits_serial,
    waits_outside, ///< Waits in the call: there is no task.
    waits_event,   ///< Waits in the body: its only event belongs to the program's detach clause.
};

struct task_binding;

/// A bound task that the calling thread runs, linked from the innermost outwards.
struct running_task {
    kmp_task* task;
    task_binding* binding;
    running_task* outer;
    int level;      ///< The nesting level of its region; a region that its body opens has another level.
    bool continues; ///< Untied, and resubmitted to the runtime for its next part.
};

/// The data behind a bound task.
struct task_binding {
    kmp_routine routine; ///< The task's own routine, which the trampoline calls.
    /// Set by the first operation if the operations complete the task; otherwise 0.
    omp_event_handle_t event{};
    /// Completes the task instead of the event, if its body ended first in a team of one thread.
    kmp_task* proxy_task = nullptr;
    /// Operations that have not ended, plus one for the body; 0: the body started none.
    std::atomic<std::uint32_t> n_open{0};
    std::int32_t flags;        ///< Like the sizes, as given by the compiler.
    std::size_t size_bytes;    ///< Of the task with its private data.
    std::size_t shareds_bytes; ///< Of the data that it shares with its creator.
    task_end end;              ///< Determined when the task was created or began.
    /// Used if compiled code instead of the runtime calls the body, with a false if clause.
    running_task undeferred;

    /// An operation has ended. Unless it returns true, the object may be destroyed afterwards.
    /// @return true if the operation was the last, so that the caller must complete the task
    [[nodiscard]] bool note_ended() noexcept {
        // Read first: a task that waits in its body may be freed after the decrement.
        const bool is_delayed = static_cast<std::uintptr_t>(event) != 0;
        // acq_rel: the dependents must see what the operations wrote; partner of has_operations()
        // and of the other decrements.
        return n_open.fetch_sub(1, std::memory_order_acq_rel) == 1 && is_delayed;
    }
    [[nodiscard]] bool has_operations() const noexcept {
        // acquire: partner of note_ended(), for a task that waits in its body.
        return n_open.load(std::memory_order_acquire) > 1;
    }
    /// Called when a body that started operations has ended: waits for them, or lets the last
    /// operation complete the task.
    void end_body() noexcept;
};

/// Where MPI's status of an operation is written, before the task can end; allocated with the
/// operation, and deleted after the write.
struct bound_status {
    task_binding* binding;
    MPI_Status* status;
};

/// Completes a task whose last operation has ended.
void complete(omp_event_handle_t event) noexcept;

/// The innermost bound task of the calling thread; null if there is none, or if the current task is
/// not bound.
[[nodiscard]] running_task* innermost_task() noexcept;

/// Why operations cannot be bound to tasks of this process; empty if they can.
[[nodiscard]] const std::string& binding_objection() noexcept;

} // namespace commtask::omp
