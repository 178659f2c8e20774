// SPDX-License-Identifier: Apache-2.0
//
// What kind of task this thread makes next, for the tool: one of the user's looks to libomp like a helper of this library.
// While no tool hears of tasks a load and a branch.
#pragma once

#include "errors.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <utility>

namespace commtask::omp::tool {

inline constexpr unsigned a_users_task = ~0U;

inline constinit std::atomic<bool> is_there{false}; ///< It hears of tasks.
/// It was taken, and neither the trace nor another tool is a part of it.
inline constinit std::atomic<bool> is_records_only{false};
inline thread_local constinit unsigned announced = a_users_task;
inline thread_local constinit posted_operation announced_operation; ///< Of a communication that was announced.

/// The task that this thread creates next by hand is a communication, or, without an operation, a helper of this library.
inline void announce(posted_operation posted) noexcept {
    // Relaxed: orders nothing; a task that is made while the tool begins to hear may be taken for the user's.
    if (is_there.load(std::memory_order_relaxed)) {
        announced = posted.operation != nullptr ? posted.operation->kind : 0;
        announced_operation = posted;
    }
}

void begin_waits_now() noexcept;
void begin_check_now() noexcept;
inline constinit std::atomic<bool> waits_are_begun{false};
inline constinit std::atomic<bool> check_is_begun{false};

/// For a communication task that is about to be made. Where workers share their cores, threads that wait make progress from now
/// on; where tasks make communication tasks, libomp may not wait for these, and that is checked.
/// @param in_a_task  its parent is an explicit task
inline void begin_to_hear(bool in_a_task) noexcept {
    // Relaxed: the functions ask again.
    if (!waits_are_begun.load(std::memory_order_relaxed) && commtask_is_worker_shared() != 0) {
        begin_waits_now();
    }
    if (in_a_task && !check_is_begun.load(std::memory_order_relaxed)) {
        begin_check_now();
    }
}

/// From now on holds_mutex() knows.
/// @return false: another tool has the place
bool begin_mutexes() noexcept;

} // namespace commtask::omp::tool
