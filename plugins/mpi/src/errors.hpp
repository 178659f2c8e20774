// SPDX-License-Identifier: Apache-2.0
//
// The program's error handlers. The worker's calls must never run them: a task's error belongs to the thread that waits
// for it. So MPI gets a function of ours in place of the program's, which is silent on a driver; and MPI_ERRORS_ARE_FATAL
// is replaced by functions that the program never sees: by one of ours where it chose that, by one of the runtime's where it
// chose nothing, since in MPICH such a communicator follows MPI_COMM_WORLD's handler, whatever that is when the error comes.
#pragma once

#include <mpi.h>

namespace commtask::interposer {

/// Whose handler MPI calls for an error that is of no communicator: MPI_COMM_SELF's since MPI 4.0, which MPICH came to in 4.1.
[[nodiscard]] inline MPI_Comm comm_of_none() noexcept {
#ifdef MPICH_VERSION
    return MPICH_NUMVERSION >= 40100000 ? MPI_COMM_SELF : MPI_COMM_WORLD;
#else
    return MPI_VERSION >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD;
#endif
}

/// Whose handler hears of an error: the window's or the file's, where there is one.
struct error_home {
    MPI_Comm comm = comm_of_none();
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Errhandler of_freed =
        MPI_ERRHANDLER_NULL; ///< Of a communicator that was freed, if it did not follow another's.
};

/// Calls the handler, on this thread and as MPI would; the program ends if the error is fatal.
/// @return code, if the handler comes back.
int raise(MPI_Comm comm, int code);
int raise(const error_home& home, int code);

/// From now on fatal errors of the program's own calls are heard here.
void hear_fatal_errors();

/// Ends the program as MPI_ERRORS_ARE_FATAL does, and says which function it called. The caller may call MPI.
[[noreturn]] void end_program(MPI_Comm comm, int code);

/// The program frees this communicator: what of its operations has not ended keeps its handler.
void outlive(MPI_Comm freed);
/// @return null: it followed MPI_COMM_WORLD's, or was not freed
[[nodiscard]] MPI_Errhandler handler_of_freed(MPI_Comm freed) noexcept;

/// The handler that a communicator does not have from another, with a reference; null: it has none. The caller may call MPI.
[[nodiscard]] MPI_Errhandler own_handler(MPI_Comm comm);
/// Gives such a reference back; null is none. The caller may call MPI.
void release_handler(MPI_Errhandler handler);

} // namespace commtask::interposer
