// SPDX-License-Identifier: Apache-2.0
//
// Makes MPI return errors as codes inside the library, while the program's own calls keep their
// behaviour. MPICH's MPI_Testsome uses the handler of MPI_COMM_WORLD instead of the request's, so
// MPI_ERRORS_RETURN on the library's own communicators is not enough. A communicator whose handler
// is MPI_ERRORS_ARE_FATAL gets the library's handler, which returns if the library made the call
// and ends the program otherwise. Handlers that return, and functions of the program, are not
// replaced: see docs/errors.md.
#pragma once

#include "base/float_modes.hpp"

#include <mpi.h>

namespace commtask::detail {

/// While an object exists, and during progress calls, errors of this thread's MPI calls are
/// returned as codes. The calls use the floating-point modes of the reductions in flight. MPICH 4.3
/// and later return MPI_SUCCESS after a handler that is a function returns; there the handler
/// stores the code.
class errors_return {
public:
    errors_return() noexcept;
    errors_return(const errors_return&) = delete;
    errors_return& operator=(const errors_return&) = delete;
    ~errors_return();

    /// @return the error of the MPI call that returned `code`: the first error since the last call
    /// of this function
    [[nodiscard]] int code_of(int code) const noexcept;

private:
    /// The unread error code of the enclosing scope.
    int outer_;
    float_scope modes_;
};

enum class error_handler : unsigned char { fatal, returns, function /**< Of the program's own. */ };

/// The error handling of a context. Calls MPI: on the thread that initialises or finalises, or with
/// a progress lock.
class mpi_error_handling {
public:
    /// The handler that replaces MPI_ERRORS_ARE_FATAL on communicators; null before the first
    /// context.
    [[nodiscard]] static MPI_Errhandler returning_fatal() noexcept;

    /// Whether errors of the calling thread's MPI calls are returned as codes now, so that no
    /// handler of the program may run.
    [[nodiscard]] static bool is_quiet() noexcept;

    /// Whether this MPI returns MPI_SUCCESS after a handler that is a function. Then only
    /// errors_return, and the status of a request, have the code.
    [[nodiscard]] static bool handlers_lose_codes() noexcept;

    /// Whether MPI_Testsome reports that a persistent request failed, but not which one, since its
    /// status has no error.
    [[nodiscard]] static bool statuses_lack_errors() noexcept;

    /// Called by the handler's function while errors are returned as codes.
    static void keep(int code) noexcept;

    /// Calls take_over() for MPI_COMM_WORLD and MPI_COMM_SELF.
    mpi_error_handling(); ///< @throws std::bad_alloc
    mpi_error_handling(const mpi_error_handling&) = delete;
    mpi_error_handling& operator=(const mpi_error_handling&) = delete;
    /// Restores MPI_ERRORS_ARE_FATAL on every communicator that still has the library's handler.
    ~mpi_error_handling();

    /// Replaces MPI_ERRORS_ARE_FATAL of a communicator by the library's handler.
    /// @return an MPI error code, for example for an invalid communicator
    int take_over(MPI_Comm comm) noexcept;

    /// A handler of the program, and the communicator that has it.
    struct choice {
        error_handler handler;
        MPI_Comm comm;
    };

    /// The handler for errors on the communicator. May be called without a context.
    [[nodiscard]] static choice choice_for(MPI_Comm comm) noexcept;

    /// Called when the communicator is about to be freed.
    static void forget(MPI_Comm comm) noexcept;
};

} // namespace commtask::detail
