// SPDX-License-Identifier: Apache-2.0
//
// Checks for two ways to write communication tasks that libomp accepts silently and does not wait
// for. The checks need the records of task_records.hpp. They are on if records are kept anyway,
// since waiting threads make progress, and with COMMTASK_OMP_CHECK=1. See docs/adr/0016.
#pragma once

#include "errors.hpp"

#include <atomic>

namespace commtask::omp {

struct task_record;

namespace check {

extern std::atomic<bool> is_watching; ///< Records are kept.
const char* note_start_watched(posted_operation posted) noexcept;

/// The calling task was created by the user, and becomes a communication task.
/// @return the reason if it must not; null if it may.
[[nodiscard]] inline const char* note_start(posted_operation posted) noexcept {
    // relaxed: tasks that began before are not known.
    return is_watching.load(std::memory_order_relaxed) ? note_start_watched(posted) : nullptr;
}

/// Called when a communication task with a parent has begun, or was created.
void note_begun(task_record& communication, posted_operation posted) noexcept;

/// Called when the communication task has ended.
void note_ended(task_record& communication) noexcept;

/// Called when any task has ended.
void note_task_ended(task_record& ended) noexcept;

/// Prints once if the check was requested but another tool is active.
void warn_if_shut_out() noexcept;

} // namespace check
} // namespace commtask::omp
