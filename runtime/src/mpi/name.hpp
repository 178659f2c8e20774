// SPDX-License-Identifier: Apache-2.0
//
// Which MPI a text of MPI_Get_library_version speaks of. Binaries of two MPIs fit together if their handles are alike, so
// what is told apart first is the ABI: MPICH's is that of Intel MPI, MVAPICH and Cray MPICH too. Knows no MPI itself.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace commtask::detail {

enum class mpi_abi {
    mpich,    ///< Handles are numbers, a status has 20 bytes.
    openmpi,  ///< Handles are addresses, a status has 24 bytes.
    standard, ///< The one of MPI 5.
    unknown,
};

struct mpi_name {
    std::string family = "unknown"; ///< As COMMTASK_MPI says it: mpich, openmpi, intel; unknown for any other.
    std::string name = "an unknown MPI";
    std::string version; ///< As the MPI writes it; empty if it says none.
    mpi_abi abi = mpi_abi::unknown;
    /// Of MPICH: network contexts that it makes if it is asked to before MPI_Init; it aborts if it is asked for more.
    int most_contexts = 1;

    [[nodiscard]] std::string text() const { return version.empty() ? name : name + " " + version; }

    /// Major, minor and patch; 0 where the version has no such number.
    [[nodiscard]] std::array<int, 3> numbers() const noexcept;
};

/// From what MPI_Get_library_version gives.
[[nodiscard]] mpi_name parse_mpi_name(std::string_view library_version);

/// Whether the tests are run with this one, or with another patch release of it.
/// @param tested  "mpich 4.0.2;intel 2021.19.0"
[[nodiscard]] bool is_among_tested(const mpi_name& mpi, std::string_view tested);

} // namespace commtask::detail
