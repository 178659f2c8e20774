// SPDX-License-Identifier: Apache-2.0
//
// One worker for a program that is run under the interposer and uses commtask itself. The library has the runtime inside
// and exports its interface; the loader binds the program's calls to it. The program's commtask_init and commtask_finalize
// then only say whether the program uses the runtime; it lives from MPI_Init to MPI_Finalize.
#pragma once

namespace commtask::interposer {

/// @return a commtask_code.
[[nodiscard]] int start_runtime();
void end_runtime();

} // namespace commtask::interposer
