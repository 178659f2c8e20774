// SPDX-License-Identifier: Apache-2.0
//
// What kind of task this thread makes next, for the tool: one of the user's looks to libomp like a helper of this library.
// While no tool hears of tasks a load and a branch.
#pragma once

#include <commtask/commtask.h>

#include <atomic>
#include <utility>

namespace commtask::omp::tool {

inline constexpr unsigned a_users_task = ~0U;

inline constinit std::atomic<bool> is_there{false}; ///< It hears of tasks.
inline constinit std::atomic<bool> is_idle{
    false}; ///< It was taken, for the sake of waits alone: no trace and no check.
inline thread_local constinit unsigned announced = a_users_task;

/// The task that this thread creates next by hand is a communication of that kind, or 0: a helper of this library.
inline void announce(unsigned kind) noexcept {
    // Relaxed: orders nothing; a task that is made while the tool begins to hear may be taken for the user's.
    if (is_there.load(std::memory_order_relaxed)) {
        announced = kind;
    }
}

void begin_waits_now() noexcept;
inline constinit std::atomic<bool> waits_are_begun{false};

/// For a communication task that is about to be made: where workers share their cores, threads that wait make progress from
/// now on. Again: does nothing.
inline void begin_waits() noexcept {
    // Relaxed: the function asks again.
    if (!waits_are_begun.load(std::memory_order_relaxed) && commtask_is_worker_shared() != 0) {
        begin_waits_now();
    }
}

/// From now on waits::holds_mutex() knows.
/// @return false: another tool has the place
bool begin_mutexes() noexcept;

} // namespace commtask::omp::tool
