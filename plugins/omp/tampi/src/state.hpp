// SPDX-License-Identifier: Apache-2.0
//
// The state of libcommtask-tampi: the thread level that the program requested from MPI_Init_thread.
#pragma once

#include <atomic>

namespace commtask::tampi {

extern std::atomic<bool> is_wanted;   ///< The program requested MPI_THREAD_MULTIPLE.
extern std::atomic<bool> is_started;  ///< This library started commtask, which ends with MPI.
extern std::atomic<bool> is_blocking; ///< MPI_TASK_MULTIPLE was requested and provided.

/// Called after MPI's initialization: starts commtask if the requested and provided levels permit
/// that. A second call does nothing.
/// @param provided  the level that MPI provided; becomes the level that the program gets.
void begin(int required, int* provided) noexcept;

/// Called before MPI's finalization. A second call does nothing.
void end() noexcept;

} // namespace commtask::tampi
