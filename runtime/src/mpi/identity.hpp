// SPDX-License-Identifier: Apache-2.0
//
// The MPI that this library was built for, and the one that the process runs with. They differ when a program of one MPI
// loads a commtask of another, or when the loader finds another version; handles of one ABI mean nothing to the other, so
// nothing here passes any.
#pragma once

#include "mpi/name.hpp"

#include <optional>
#include <string>

namespace commtask::detail {

struct mpi_identity : mpi_name {
    std::string library; ///< The file; as the loader knows it, or as the build found it.
};

[[nodiscard]] mpi_identity mpi_at_build_time();

/// Can be asked before MPI_Init. Read once: it does not change.
[[nodiscard]] const mpi_identity& mpi_at_run_time();

/// Those that the tests are run with: "mpich 4.0.2;intel 2021.19.0".
[[nodiscard]] const char* tested_mpis() noexcept;

/// @return why the process's MPI cannot be used, or nothing.
[[nodiscard]] std::optional<std::string> why_mpi_does_not_fit();

/// The launcher of another MPI starts N programs of one rank each.
/// @return what to tell the user, or nothing; nothing too for all but the launcher's first process. Calls MPI.
[[nodiscard]] std::optional<std::string> foreign_launcher();

} // namespace commtask::detail
