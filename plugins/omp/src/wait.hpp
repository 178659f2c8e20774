// SPDX-License-Identifier: Apache-2.0
//
// Waiting on a thread of a team, for those parts of this library that cannot leave it to libomp: libomp's own waiting spins,
// and does not know that the thread could drive MPI meanwhile.
#pragma once

#include "bound_task.hpp"

#include <atomic>

namespace commtask::omp {

/// Until the operations of a task have ended whose end cannot be put off; the thread drives the lane, and runs tasks.
void wait_in_place(const bound_task& held) noexcept;

/// Until a number is 0, or this thread may not wait: it makes progress, and runs tasks.
void wait_until_none(const std::atomic<unsigned>& number) noexcept;

/// For a thread that has created a communication task: where the worker shares its core, and many of them are open, makes
/// progress as long as something moves.
void hold_creator_back() noexcept;

/// Whether the calling thread holds a mutex of OpenMP's, as far as that is watched (tool.cpp): no other task may run on top of
/// the current one, since it may want the same.
[[nodiscard]] bool holds_mutex() noexcept;

} // namespace commtask::omp
