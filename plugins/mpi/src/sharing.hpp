// SPDX-License-Identifier: Apache-2.0
//
// One worker for a program that runs under the interposer and uses commtask itself. This library
// contains the runtime and exports its interface; the loader binds the program's calls to it. The
// program's commtask_init and commtask_finalize then only begin and end the program's use of the
// runtime, which exists from MPI_Init to MPI_Finalize.
#pragma once

namespace commtask::interposer {

/// Collective. The first rank with an error reports why there is no worker.
/// @param is_quiet  no advice is printed, unless COMMTASK_VERBOSE says otherwise
/// @return a commtask_code
[[nodiscard]] int start_runtime(bool is_quiet);

/// Called before MPI_Finalize needs the worker.
/// @return false if the worker never returns from a function of the program, and is or was
///     abandoned: from here on, the program's calls go directly to MPI
[[nodiscard]] bool workers_respond();

void end_runtime();

} // namespace commtask::interposer
