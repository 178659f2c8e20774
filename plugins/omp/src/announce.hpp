// SPDX-License-Identifier: Apache-2.0
//
// What kind of task this thread makes next, for the tool: one of the user's looks to libomp like a helper of this library.
// Without a tool a load and a branch.
#pragma once

#include <atomic>
#include <utility>

namespace commtask::omp::tool {

inline constexpr unsigned a_users_task = ~0U;

inline constinit std::atomic<bool> is_there{false}; ///< Set before the first task of the process.
inline thread_local constinit unsigned announced = a_users_task;

/// The task that this thread creates next by hand is a communication of that kind, or 0: a helper of this library.
inline void announce(unsigned kind) noexcept {
    // Relaxed: libomp initialised the tool before this thread could create a task.
    if (is_there.load(std::memory_order_relaxed)) {
        announced = kind;
    }
}

} // namespace commtask::omp::tool
