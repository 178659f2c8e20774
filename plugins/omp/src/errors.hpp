// SPDX-License-Identifier: Apache-2.0
//
// Reports failures of communication tasks. OpenMP cannot fail a task, so an error code of the C API
// would be lost between the task's body and its dependents. Every failure is counted, stored, and
// passed to the user's handler. Without a handler and a status, the runtime applies the
// communicator's error handler.
#pragma once

#include <commtask/omp.h>

#include <string>
#include <string_view>

namespace commtask::omp {

/// The operation's name as users write it; "communication" for an unknown kind.
[[nodiscard]] const char* name_of_kind(unsigned kind) noexcept;

/// Sets the message of commtask_omp_last_error on this thread.
/// @return the code.
int set_last_error(int code, const char* message) noexcept;
/// Sets the message from an objection of this library, which may be empty.
int set_last_objection(int code, const std::string& objection) noexcept;

/// The source location where a task was created, if known.
struct source_place {
    const char* file = nullptr; ///< Null: not known.
    int line = 0;
};

/// An operation and its source location; valid during the call that receives it.
struct posted_operation {
    const commtask_op* operation = nullptr;
    source_place where;
};

/// Why options are invalid; null if they are valid.
[[nodiscard]] const char* objection_to(const commtask_omp_options& options) noexcept;

/// A flag of an operation: the caller handles the code of a refusal, as Fortran's ierror does.
constexpr std::uint32_t flag_caller_looks = 1U << 30U;

/// Reports a task that was never posted: counts it, writes the user's status, calls the handler.
/// Without a status and a handler, and with MPI_ERRORS_ARE_FATAL on the communicator, it does not
/// return.
/// @param operation  null: there was none.
/// @param reason     null: the message is commtask_last_error(), set by the runtime's refusal.
/// @return the code.
int report_refusal(int code, const commtask_op* operation, const commtask_omp_options& options, const char* reason,
                   source_place where = {}) noexcept;

/// Reports, in its callback, a task that ended FAILED or CANCELED: counts it and calls the handler.
/// Runs on the worker.
void report_ending(unsigned kind, const commtask_status& status, bool has_status) noexcept;

/// Reports communication tasks that libomp does not wait for, whether or not they succeeded
/// (check.hpp): counts one failure and calls the handler; without a handler, as a refusal.
void report_not_waited_for(unsigned kind, const char* message) noexcept;

/// Why the process's OpenMP code does not all run on the OpenMP runtime that this library is linked
/// to; empty if it does. Tested once.
[[nodiscard]] const std::string& runtime_objection() noexcept;

} // namespace commtask::omp
