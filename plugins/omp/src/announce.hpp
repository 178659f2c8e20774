// SPDX-License-Identifier: Apache-2.0
//
// Tells the OMPT tool what kind of task this thread creates next: libomp's events do not
// distinguish a user's task from a helper task of this library. Before the tool receives task
// events, this costs a load and a branch.
#pragma once

#include "errors.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <utility>

namespace commtask::omp::tool {

inline constexpr unsigned a_users_task = ~0U;

inline constinit std::atomic<bool> is_there{false}; ///< The tool receives task events.
/// The tool of this library is active, without a trace and without another tool.
inline constinit std::atomic<bool> is_records_only{false};
inline thread_local constinit unsigned announced = a_users_task;
/// The operation of an announced communication task.
inline thread_local constinit posted_operation announced_operation;

/// Announces the next task that this thread creates through kmp.hpp: a communication task, or,
/// without an operation, a helper task.
inline void announce(posted_operation posted) noexcept {
    // relaxed: orders nothing. A task created while the tool begins to receive events may be taken
    // for the user's.
    if (is_there.load(std::memory_order_relaxed)) {
        announced = posted.operation != nullptr ? posted.operation->kind : 0;
        announced_operation = posted;
    }
}

void begin_waits_now() noexcept;
void begin_check_now() noexcept;
inline constinit std::atomic<bool> waits_are_begun{false};
inline constinit std::atomic<bool> check_is_begun{false};

/// Called before a communication task is created. With shared workers, waiting threads make
/// progress from here on. If the parent is an explicit task, libomp may not wait for the new task,
/// and the check for that is on from here on.
/// @param in_a_task  the parent is an explicit task
inline void begin_events(bool in_a_task) noexcept {
    // relaxed: the functions test again.
    if (!waits_are_begun.load(std::memory_order_relaxed) && commtask_is_worker_shared() != 0) {
        begin_waits_now();
    }
    if (in_a_task && !check_is_begun.load(std::memory_order_relaxed)) {
        begin_check_now();
    }
}

/// From here on mutexes are tracked, for has_mutex().
/// @return false: another tool is active
bool begin_mutexes() noexcept;

} // namespace commtask::omp::tool
