// SPDX-License-Identifier: Apache-2.0
//
// The interposer makes a program's MPI calls in its place, so errors that would end the program come to it first: it knows which
// function the program called, and whose handler the program chose since. A header of its own, as errors.hpp is included everywhere.
#pragma once

#include <mpi.h>

namespace commtask::detail {

/// Hears, inside MPI, of an error that the program's own call met on a communicator whose handler is the library's. It need not
/// end the program.
using fatal_error_function = void(MPI_Comm comm, int code);

/// Null, as at first: the program is ended at once.
void hear_fatal_errors_of_program(fatal_error_function* function) noexcept;

} // namespace commtask::detail
