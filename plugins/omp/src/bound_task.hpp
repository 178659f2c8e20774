// SPDX-License-Identifier: Apache-2.0
//
// A task of the user that was made while tasks are bound (binding.cpp): what the library keeps behind the task's own data, so
// that communication started in its body can put off its end. One event for any number of operations: each counts once, and
// so does the body; whoever takes the count to zero completes the task.
#pragma once

#include "kmp.hpp"

#include <mpi.h>
#include <omp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace commtask::omp {

/// How a task that started communication ends after its body.
enum class task_end : std::uint8_t {
    is_put_off,  ///< The last operation completes it.
    waits_final, ///< In place: a final task is run by its creator, which libomp does not let wait for an event.
    waits_if0,   ///< In place: so is one with an if clause that is false.
    waits_serial, ///< In place: created by an explicit task in a team of one thread, where libomp loses count of such tasks.
    waits_outside, ///< In the call itself: it is no task.
    waits_event,   ///< In place: its only event is that of its own detach clause.
};

struct bound_task;

/// A bound task that the calling thread runs; the innermost first.
struct running_task {
    kmp_task* task;
    bound_task* held;
    running_task* outer;
    int level;      ///< Of the region that it is in: one that its body opens is none of its own.
    bool continues; ///< Untied, and handed back to the runtime for its next part.
};

/// What lies behind a bound task.
struct bound_task {
    kmp_routine routine;        ///< The task's own, which the trampoline calls.
    omp_event_handle_t event{}; ///< Set by the first operation, if the end is put off; else 0.
    /// Completes the task instead, if its body ended first in a team of one thread.
    kmp_task* proxy_task = nullptr;
    /// Operations that have not ended, and one for the body; 0: it started nothing.
    std::atomic<std::uint32_t> n_open{0};
    std::int32_t flags;        ///< This and the sizes as the compiler gave them.
    std::size_t size_bytes;    ///< Of the task with its private data.
    std::size_t shareds_bytes; ///< Of what it shares with its creator.
    task_end end;              ///< As known when it was created or began.
    running_task undeferred;   ///< Where its body is not called by the runtime: if its if clause is false.

    /// An operation has ended. Afterwards this may be gone, unless it returns true.
    /// @return whether the caller must complete the task: it was the last.
    [[nodiscard]] bool note_ended() noexcept {
        // Once only: a task that waits in place is gone when its count has reached the body's.
        const bool is_put_off = static_cast<std::uintptr_t>(event) != 0;
        // acq_rel: what the operations wrote is the dependents' to see; partner of waits and of the other decrements.
        return n_open.fetch_sub(1, std::memory_order_acq_rel) == 1 && is_put_off;
    }
    [[nodiscard]] bool has_operations() const noexcept {
        // acquire: partner of note_ended(), for a task that waits in place.
        return n_open.load(std::memory_order_acquire) > 1;
    }
    /// The body has ended, and had started communication: waits in place, or lets the last operation complete the task.
    void end_body() noexcept;
};

/// Where MPI's status of an operation goes before its task can end; made for the operation, and deleted when that is done.
struct told_status {
    bound_task* held;
    MPI_Status* status;
};

/// Completes a task whose last operation has ended.
void complete(omp_event_handle_t event) noexcept;

/// The innermost bound task of the calling thread; null: none, which may also be a task that is not bound.
[[nodiscard]] running_task* innermost_task() noexcept;

/// Why tasks of this process cannot be held; empty: they can.
[[nodiscard]] const std::string& binding_objection() noexcept;

} // namespace commtask::omp
