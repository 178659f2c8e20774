// SPDX-License-Identifier: Apache-2.0
//
// What the parts of libcommtask-tampi know of the process: what MPI_Init_thread was asked for, which is all that a program for
// TAMPI says of itself.
#pragma once

#include <atomic>

namespace commtask::tampi {

extern std::atomic<bool> is_wanted;   ///< MPI was asked for MPI_THREAD_MULTIPLE.
extern std::atomic<bool> is_started;  ///< commtask was started by this library, and ends with MPI.
extern std::atomic<bool> is_blocking; ///< MPI_TASK_MULTIPLE was asked for and given.

/// MPI has been initialised: starts commtask, if the level that was asked for and given says so. Again: does nothing.
/// @param provided  as MPI gave it; becomes what the program has.
void begin(int required, int* provided) noexcept;

/// MPI is about to be finalised. Again: does nothing.
void end() noexcept;

} // namespace commtask::tampi
