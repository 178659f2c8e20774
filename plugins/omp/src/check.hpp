// SPDX-License-Identifier: Apache-2.0
//
// The check for COMMTASK_OMP_CHECK=1: two ways to write communication tasks that libomp takes without a word and does not
// wait for. It watches tasks as an OMPT tool, of which a process has one, so without the variable this library is none,
// and its calls here cost a load. See docs/adr/0024.
#pragma once

#include <atomic>

namespace commtask::omp {

namespace check {

extern std::atomic<bool> is_watching; ///< Set before the first task of the process.
const char* note_start_watched(unsigned kind) noexcept;

/// The task in whose body this is called is of the user's own making, and becomes a communication.
/// @return why it must not; null: it may.
[[nodiscard]] inline const char* note_start(unsigned kind) noexcept {
    // Relaxed: libomp initialised the tool before this thread could create a task.
    return is_watching.load(std::memory_order_relaxed) ? note_start_watched(kind) : nullptr;
}

/// Says once, where it is so, that the check was asked for and another tool has its place.
void complain_if_shut_out() noexcept;

} // namespace check
} // namespace commtask::omp
