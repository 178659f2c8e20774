// SPDX-License-Identifier: Apache-2.0
//
// The MPI that this library was built for, and the MPI at run time. They differ if a program built
// with one MPI loads a commtask built with another, or if the loader finds another version. Handles
// of one ABI are meaningless to an MPI with another ABI, so no function here has handles as
// parameters.
#pragma once

#include "mpi/name.hpp"

#include <optional>
#include <string>

namespace commtask::detail {

struct mpi_identity : mpi_name {
    std::string library; ///< The file, as the loader or the build found it.
};

[[nodiscard]] mpi_identity mpi_at_build_time();

/// May be called before MPI_Init. The result is computed once and cached.
[[nodiscard]] const mpi_identity& mpi_at_run_time();

/// The MPIs that the tests are run with: "mpich 4.0.2;intel 2021.19.0".
[[nodiscard]] const char* tested_mpis() noexcept;

/// @return why the MPI at run time cannot be used, or nothing
[[nodiscard]] std::optional<std::string> why_mpi_does_not_fit();

/// Detects the launcher of another MPI, which starts N jobs of one rank each. Calls MPI.
/// @return a message for the user, or nothing; only the launcher's first process gets a message
[[nodiscard]] std::optional<std::string> foreign_launcher();

} // namespace commtask::detail
