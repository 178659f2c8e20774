// SPDX-License-Identifier: Apache-2.0
//
// Posts an operation so that its end fulfils an OpenMP event. Used for tasks with a detach clause
// and for tasks that the library itself creates.
#pragma once

#include "errors.hpp"
#include "kmp.hpp"

#include <commtask/omp.h>

#include <cstdint>

namespace commtask::omp {

/// Takes a ticket for an operation while its task is created.
/// @param ticket  its number is 0 if the operation needs none
/// @return COMMTASK_OK, or the code with which the post would be refused
int take_turn(const commtask_op& operation, std::uint32_t flags, source_place where, commtask_ticket& ticket) noexcept;

/// A flag of an operation whose task this library made or prepared: the parent of the task is
/// implicit.
constexpr std::uint32_t flag_parent_is_implicit = 1U << 31U;

/// flag_parent_is_implicit or 0, for a task that the calling task is about to create.
[[nodiscard]] inline std::uint32_t flag_of_parent() noexcept {
    return omp_in_explicit_task() == 0 ? flag_parent_is_implicit : 0U;
}

/// How the end of the operation completes the OpenMP task; this determines the argument of post().
enum class ending {
    event,      ///< The event, packed by pack().
    serial,     ///< For a team of one thread: a serial_start.
    binding,    ///< The last of the task's operations completes it: a task_binding.
    status_out, ///< Like binding, after MPI's status is written: a bound_status.
};

/// Posts an operation that the outstanding count includes; its end decrements the count. A refusal
/// is reported and releases the ticket, and the caller must complete the task.
int post(const commtask_op& operation, const commtask_omp_options& options, ending by, void* argument,
         source_place where) noexcept;

/// Posts an operation from inside the task that `event` completes, and fulfils the event in any
/// case. Refusals are reported; an unused ticket is released. The outstanding count includes the
/// task already.
int start(const commtask_op& operation, const commtask_omp_options& options, omp_event_handle_t event,
          source_place where = {}) noexcept;

/// Called when the operation of the task of `event` has ended; decrements the outstanding count.
/// Any thread; not for a team of one thread.
void end_event(omp_event_handle_t event) noexcept;

/// Whether progress() would do nothing, since its calls on this thread are nested too deeply, or
/// the thread has a mutex that a task may need.
[[nodiscard]] bool may_not_progress() noexcept;

class serial_start;

/// With a shared worker, makes progress for a short time, and runs the tasks that become ready.
/// @param begun  was just posted, and is settled before any task runs; null: none.
/// @return COMMTASK_OK, or the code with which commtask_progress refused the call.
int progress(serial_start* begun = nullptr) noexcept;

} // namespace commtask::omp
