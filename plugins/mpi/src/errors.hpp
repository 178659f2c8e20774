// SPDX-License-Identifier: Apache-2.0
//
// The program's error handlers. The worker's calls must not run them: a task's error is reported on
// the thread that waits for the task. MPI therefore gets a stand-in function for each handler,
// which does nothing on a progress thread.
//
// MPI_ERRORS_ARE_FATAL is replaced too, which the program does not see. If the program chose it, a
// function of the interposer replaces it; if the program chose nothing, one of the runtime does.
// MPICH distinguishes the two: a communicator without a chosen handler follows MPI_COMM_WORLD's
// current handler.
#pragma once

#include <mpi.h>

namespace commtask::interposer {

/// The communicator whose handler MPI calls for an error that belongs to no communicator:
/// MPI_COMM_SELF since MPI 4.0, in MPICH since version 4.1.
[[nodiscard]] inline MPI_Comm comm_of_none() noexcept {
#ifdef MPICH_VERSION
    return MPICH_NUMVERSION >= 40100000 ? MPI_COMM_SELF : MPI_COMM_WORLD;
#else
    return MPI_VERSION >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD;
#endif
}

/// The object whose handler is called for an error: the window or the file if there is one,
/// otherwise the communicator.
struct error_owner {
    MPI_Comm comm = comm_of_none();
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    /// The handler of a freed communicator that had its own.
    MPI_Errhandler of_freed = MPI_ERRHANDLER_NULL;
};

/// Calls the handler on this thread, as MPI would. The program ends if the error is fatal.
/// @return code, if the handler returns
int raise(MPI_Comm comm, int code);
int raise(const error_owner& owner, int code);

/// From here on, fatal errors of the program's own calls are reported to this module.
void intercept_fatal_errors();

/// Ends the program as MPI_ERRORS_ARE_FATAL does, with a message that names the MPI function that
/// the program called. The caller must be allowed to call MPI.
[[noreturn]] void end_program(MPI_Comm comm, int code);

/// Called when the program frees this communicator: its operations that have not ended keep its
/// handler.
void outlive(MPI_Comm freed);
/// @return null: the communicator followed MPI_COMM_WORLD's handler, or was not freed
[[nodiscard]] MPI_Errhandler handler_of_freed(MPI_Comm freed) noexcept;

/// The communicator's own handler, with a reference; null if it follows another communicator's. The
/// caller must be allowed to call MPI.
[[nodiscard]] MPI_Errhandler own_handler(MPI_Comm comm);
/// Releases such a reference; null is allowed. The caller must be allowed to call MPI.
void release_handler(MPI_Errhandler handler);

} // namespace commtask::interposer
