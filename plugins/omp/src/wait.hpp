// SPDX-License-Identifier: Apache-2.0
//
// Waiting on a thread of a team, for cases in which libomp's own waiting, which spins and makes no
// progress for MPI, does not suffice.
#pragma once

#include "bound_task.hpp"

#include <atomic>

namespace commtask::omp {

/// Waits for the operations of a task whose completion cannot be delayed; the thread makes
/// progress, and runs tasks.
void wait_in_place(const task_binding& held) noexcept;

/// Waits until a number is 0, or this thread may not wait. The thread makes progress, and runs
/// tasks.
void wait_until_none(const std::atomic<unsigned>& number) noexcept;

/// Delays a thread that has created a communication task, if the worker is shared and many tasks
/// are open: makes progress as long as some task moves.
void throttle_creator() noexcept;

/// Whether the calling thread has an OpenMP mutex, as far as mutexes are tracked (tool.cpp). Then
/// no other task may run on top of the current task, since the other task may need the same mutex.
[[nodiscard]] bool has_mutex() noexcept;

} // namespace commtask::omp
