// SPDX-License-Identifier: Apache-2.0
//
// The interposer makes a program's MPI calls in its place, so errors that would end the program are
// passed to the interposer first. It knows which function the program called, and which handler the
// program has set since. This is a separate header, since errors.hpp is included everywhere.
#pragma once

#include <mpi.h>

namespace commtask::detail {

/// Called inside MPI for an error of the program's own call, on a communicator with the library's
/// handler. The function may return.
using fatal_error_function = void(MPI_Comm comm, int code);

/// Null, the default: the program is ended at once.
void set_fatal_error_function(fatal_error_function* function) noexcept;

} // namespace commtask::detail
