// SPDX-License-Identifier: Apache-2.0
//
// One worker for a program that is run under the interposer and uses commtask itself. The library has the runtime inside
// and exports its interface; the loader binds the program's calls to it. The program's commtask_init and commtask_finalize
// then only say whether the program uses the runtime; it lives from MPI_Init to MPI_Finalize.
#pragma once

namespace commtask::interposer {

/// Collective; the first rank that has a reason says why there is no worker.
/// @param is_quiet  the worker gives no advice, unless COMMTASK_VERBOSE says otherwise
/// @return a commtask_code.
[[nodiscard]] int start_runtime(bool is_quiet);

/// Before MPI_Finalize needs the worker. @return false if it is inside a function of the program's that does not come back, and is
/// or was left behind: the program's calls are MPI's own from here on
[[nodiscard]] bool answers();

void end_runtime();

} // namespace commtask::interposer
