// SPDX-License-Identifier: Apache-2.0
//
// Where communication tasks that went wrong are told of. OpenMP cannot fail a task, so what the C API returns as a code would
// be lost between the task's body and its dependents: every failure passes here, is counted, remembered, and told to
// the user's handler. Without one, and without a status, the runtime asks the communicator's error handler.
#pragma once

#include <commtask/omp.h>

#include <string>
#include <string_view>

namespace commtask::omp {

/// The operation's name in the user's words; "communication" for a kind that does not exist.
[[nodiscard]] const char* name_of_kind(unsigned kind) noexcept;

/// Sets the sentence of commtask_omp_last_error on this thread.
/// @return the code.
int set_last_error(int code, const char* sentence) noexcept;
/// The same with an objection of this library, which may be empty.
int set_last_objection(int code, const std::string& objection) noexcept;

/// Where in the program a task was created, if that is known.
struct source_place {
    const char* file = nullptr; ///< Null: not known.
    int line = 0;
};

/// An operation and its place; lives as long as the call that gets it.
struct posted_operation {
    const commtask_op* operation = nullptr;
    source_place where;
};

/// What is wrong with what the user says beside the operation; null: nothing.
[[nodiscard]] const char* objection_to(const commtask_omp_options& options) noexcept;

/// In the flags of an operation: the caller takes the code of a refusal, as Fortran's ierror does.
constexpr std::uint32_t flag_caller_looks = 1U << 30U;

/// A task that was never posted: counts it, writes the user's status, tells the handler. Where there is neither, and the
/// communicator's errors are fatal, it does not return.
/// @param operation  null: there was none.
/// @param reason     null: commtask_last_error() is the sentence, as the runtime's refusals leave it.
/// @return the code.
int report_refusal(int code, const commtask_op* operation, const commtask_omp_options& options, const char* reason,
                   source_place where = {}) noexcept;

/// A task that ended FAILED or CANCELED, in its callback: counts it and tells the handler. Runs on the worker.
void report_ending(unsigned kind, const commtask_status& status, bool has_status) noexcept;

/// Communication tasks that libomp does not wait for, whatever becomes of them (check.hpp): counts it, and tells the handler;
/// without one, as a refusal.
void report_not_waited_for(unsigned kind, const char* sentence) noexcept;

/// Whether all OpenMP code of the process runs on the OpenMP runtime that this library is linked to; asked once.
/// The sentence is empty if so.
[[nodiscard]] const std::string& runtime_objection() noexcept;

} // namespace commtask::omp
