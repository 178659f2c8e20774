// SPDX-License-Identifier: Apache-2.0
//
// From an operation to an OpenMP event: posts the operation so that its end fulfils the event. Used by the detach bridge
// and by the tasks that the library creates itself.
#pragma once

#include "errors.hpp"
#include "kmp.hpp"

#include <commtask/omp.h>

#include <cstdint>

namespace commtask::omp {

/// Takes the turn of an operation in program order, while its task is created.
/// @param ticket  its number is 0 if the operation needs no turn
/// @return COMMTASK_OK, or why the operation would be refused when posted
int take_turn(const commtask_op& operation, std::uint32_t flags, source_place where, commtask_ticket& ticket) noexcept;

/// In the flags of an operation that this library made a task for, or prepared: the parent of its task is implicit.
constexpr std::uint32_t flag_parent_is_implicit = 1U << 31U;

/// That flag, or 0, for a task that the calling task is about to create.
[[nodiscard]] inline std::uint32_t flag_of_parent() noexcept {
    return omp_in_explicit_task() == 0 ? flag_parent_is_implicit : 0U;
}

/// Who completes the OpenMP task when its operation has ended, and so what the argument of post() is.
enum class ending {
    event,  ///< Nobody beside the event, packed by pack().
    serial, ///< The thread of a team of one: a serial_start.
    held,   ///< The last of its operations: a bound_task.
    told,   ///< The same, after MPI's status is written: a told_status.
};

/// Posts an operation that is in the outstanding count; its end leaves it. A refusal is reported, gives the ticket up, and is the
/// caller's to make good: nobody completes the task.
int post(const commtask_op& operation, const commtask_omp_options& options, ending by, void* argument,
         source_place where) noexcept;

/// Posts an operation from inside the task that `event` completes, and sees to it that the event is fulfilled whatever
/// happens. Refusals are reported; a ticket that could not be used is given up. The task is in the outstanding count already.
int start(const commtask_op& operation, const commtask_omp_options& options, omp_event_handle_t event,
          source_place where = {}) noexcept;

/// Any thread: what the task of `event` waited for has ended. Its task leaves the outstanding count; not of a team of one thread.
void end_event(omp_event_handle_t event) noexcept;

/// Whether progress() would do nothing, because the calling thread is in too many already, or holds a mutex that a task may want.
[[nodiscard]] bool may_not_progress() noexcept;

class serial_start;

/// Drives the lane for a moment where its worker shares a core, and runs what became ready by it.
/// @param begun  was posted just now, and is settled before anything runs; null: nothing.
/// @return COMMTASK_OK, or why the lane may not be driven here.
int progress(serial_start* begun = nullptr) noexcept;

} // namespace commtask::omp
