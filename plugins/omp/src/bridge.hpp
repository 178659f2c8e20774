// SPDX-License-Identifier: Apache-2.0
//
// Posts an operation so that its end fulfils an OpenMP event. Used for tasks with a detach clause
// and for tasks that the library creates itself.
#pragma once

#include "errors.hpp"
#include "kmp.hpp"

#include <commtask/omp.h>

#include <cstdint>

namespace commtask::omp {

/// Takes the place of an operation in program order, while its task is created.
/// @param ticket  its number is 0 if the operation needs no place
/// @return COMMTASK_OK, or why the operation would be refused when posted
int take_turn(const commtask_op& operation, std::uint32_t flags, source_place where, commtask_ticket& ticket) noexcept;

/// A flag of an operation whose task this library made or prepared: the parent of the task is
/// implicit.
constexpr std::uint32_t flag_parent_is_implicit = 1U << 31U;

/// flag_parent_is_implicit or 0, for a task that the calling task is about to create.
[[nodiscard]] inline std::uint32_t flag_of_parent() noexcept {
    return omp_in_explicit_task() == 0 ? flag_parent_is_implicit : 0U;
}

/// How the end of its operation completes the OpenMP task; this determines the argument of post().
enum class ending {
    event,      ///< The event, packed by pack().
    serial,     ///< The thread of a team of one: a serial_start.
    binding,    ///< The last of the task's operations: a task_binding.
    status_out, ///< As binding, after MPI's status is written: a bound_status.
};

/// Posts an operation that is in the outstanding count; its end decrements the count. A refusal is
/// reported and gives up the ticket, and the caller must complete the task.
int post(const commtask_op& operation, const commtask_omp_options& options, ending by, void* argument,
         source_place where) noexcept;

/// Posts an operation from inside the task that `event` completes, and fulfils the event in any
/// case. Refusals are reported; a ticket that was not used is given up. The task is in the
/// outstanding count already.
int start(const commtask_op& operation, const commtask_omp_options& options, omp_event_handle_t event,
          source_place where = {}) noexcept;

/// The operation of the task of `event` has ended; the task leaves the outstanding count. Any
/// thread; not for a team of one thread.
void end_event(omp_event_handle_t event) noexcept;

/// Whether progress() would do nothing, because its calls on this thread are nested too deeply, or
/// the thread holds a mutex that a task may need.
[[nodiscard]] bool may_not_progress() noexcept;

class serial_start;

/// Makes progress for a moment if the worker shares a core, and runs the tasks that become ready.
/// @param begun  was just posted, and is settled before any task runs; null: nothing.
/// @return COMMTASK_OK, or why this thread may not make progress.
int progress(serial_start* begun = nullptr) noexcept;

} // namespace commtask::omp
