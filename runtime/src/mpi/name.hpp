// SPDX-License-Identifier: Apache-2.0
//
// The MPI that a text of MPI_Get_library_version names. Binaries of two MPIs are compatible if
// their handles have the same representation, so the ABI is determined first: Intel MPI, MVAPICH
// and Cray MPICH have MPICH's. Calls no MPI.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace commtask::detail {

enum class mpi_abi {
    mpich,    ///< Handles are integers, a status has 20 bytes.
    openmpi,  ///< Handles are addresses, a status has 24 bytes.
    standard, ///< The ABI of MPI 5.
    unknown,
};

struct mpi_name {
    /// mpich, openmpi or intel, as in COMMTASK_MPI; cray or mvapich; unknown for any other.
    std::string family = "unknown";
    std::string name = "an unknown MPI";
    std::string version; ///< As the MPI writes it; empty if there is none.
    mpi_abi abi = mpi_abi::unknown;
    /// For MPICH: the maximum number of network contexts that can be requested before MPI_Init;
    /// MPICH aborts on a larger request.
    int most_contexts = 1;

    [[nodiscard]] std::string text() const { return version.empty() ? name : name + " " + version; }

    /// Major, minor and patch; 0 where the version has no such number.
    [[nodiscard]] std::array<int, 3> numbers() const noexcept;
};

/// @param library_version  the text of MPI_Get_library_version
[[nodiscard]] mpi_name parse_mpi_name(std::string_view library_version);

/// Whether the tests are run with this MPI, or with another patch release of it.
[[nodiscard]] bool is_among_tested(const mpi_name& mpi, std::string_view tested);

} // namespace commtask::detail
