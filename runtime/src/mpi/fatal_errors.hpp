// SPDX-License-Identifier: Apache-2.0
//
// The interposer makes a program's MPI calls in its place, so errors that would end the program go
// to the interposer first. It knows which function the program called, and which handler the
// program has set since. This is a separate header, as errors.hpp is included everywhere.
#pragma once

#include <mpi.h>

namespace commtask::detail {

/// Called inside MPI for an error of the program's own call, on a communicator whose handler is the
/// library's. The function need not end the program.
using fatal_error_function = void(MPI_Comm comm, int code);

/// Null, the default: the program is ended at once.
void set_fatal_error_function(fatal_error_function* function) noexcept;

} // namespace commtask::detail
