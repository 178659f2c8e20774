// SPDX-License-Identifier: Apache-2.0
//
// Makes MPI errors come back as codes inside the library, while the program's own calls keep their behaviour. MPICH asks
// MPI_COMM_WORLD's handler in Testsome and not the request's, so setting "return" on our own communicators is not enough.
// A communicator whose handler is MPI_ERRORS_ARE_FATAL gets one of ours, which returns when the library made the call and
// ends the program otherwise. Handlers that return, and functions of the program's own, stay: see docs/errors.md.
#pragma once

#include "base/float_modes.hpp"

#include <mpi.h>

namespace commtask::detail {

/// Errors of MPI calls that this thread makes come back as codes while one of these lives, or while it drives a lane.
/// The calls are made in the floating-point modes of the reductions in flight.
/// MPICH from 4.3 on returns MPI_SUCCESS once a handler that is a function has returned: there the handler keeps the code.
class errors_come_back {
public:
    errors_come_back() noexcept;
    errors_come_back(const errors_come_back&) = delete;
    errors_come_back& operator=(const errors_come_back&) = delete;
    ~errors_come_back();

    /// @return the code of the call that returned `code`, the first since this was asked last.
    [[nodiscard]] int code_of(int code) const noexcept;

private:
    int outer_; ///< What the scope around this one has not asked for yet.
    float_scope modes_;
};

enum class error_handler : unsigned char { fatal, returns, function /**< Of the program's own. */ };

/// The error handling of a context. Calls MPI, so: on the thread that initialises or finalises, or on a driver.
class mpi_error_handling {
public:
    /// What communicators have in place of MPI_ERRORS_ARE_FATAL; null before the first context.
    [[nodiscard]] static MPI_Errhandler returning_fatal() noexcept;

    /// Whether errors of the calling thread's MPI calls come back as codes now: then no handler of the program's may run.
    [[nodiscard]] static bool is_quiet() noexcept;

    /// Whether this MPI returns MPI_SUCCESS after a handler that is a function; only errors_come_back, and the status of a
    /// request, know the code then.
    [[nodiscard]] static bool codes_get_lost() noexcept;

    /// Whether MPI_Testsome tells of a persistent request that failed, but not which: its status has no error.
    [[nodiscard]] static bool statuses_lack_errors() noexcept;

    /// A handler's function was called while errors come back.
    static void keep(int code) noexcept;

    /// Takes over MPI_COMM_WORLD and MPI_COMM_SELF.
    mpi_error_handling(); ///< @throws std::bad_alloc
    mpi_error_handling(const mpi_error_handling&) = delete;
    mpi_error_handling& operator=(const mpi_error_handling&) = delete;
    /// Gives every communicator that still has our handler MPI_ERRORS_ARE_FATAL back.
    ~mpi_error_handling();

    /// @return an MPI error code: the communicator's if it is not one.
    int take_over(MPI_Comm comm) noexcept;

    /// A handler of the program's, and the communicator that has it.
    struct choice {
        error_handler handler;
        MPI_Comm comm;
    };

    /// The handler for errors on the communicator. May be asked without a context.
    [[nodiscard]] static choice choice_for(MPI_Comm comm) noexcept;

    /// The communicator is about to be freed.
    static void forget(MPI_Comm comm) noexcept;
};

} // namespace commtask::detail
