// SPDX-License-Identifier: Apache-2.0
//
// The program's error handlers. The worker's calls must never run them: a task's error belongs to the thread that waits
// for it. So MPI gets a function of ours in place of the program's, which is silent on a driver; and MPI_ERRORS_ARE_FATAL
// is replaced by what the runtime has in its place, which the program never sees.
#pragma once

#include <mpi.h>

namespace commtask::interposer {

/// Whose handler hears of an error: the window's or the file's, where there is one.
struct error_home {
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
};

/// Calls the handler, on this thread and as MPI would.
/// @return code, if the handler comes back.
int raise(MPI_Comm comm, int code);
int raise(const error_home& home, int code);

} // namespace commtask::interposer
