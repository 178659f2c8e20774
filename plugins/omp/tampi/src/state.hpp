// SPDX-License-Identifier: Apache-2.0
//
// What the parts of libcommtask-tampi know of the process: what MPI_Init_thread was asked for, which is all that a program for
// TAMPI says of itself.
#pragma once

#include <atomic>

namespace commtask::tampi {

extern std::atomic<bool> is_started;  ///< commtask was started by this library, and ends with MPI.
extern std::atomic<bool> is_blocking; ///< MPI_TASK_MULTIPLE was asked for and given.

} // namespace commtask::tampi
