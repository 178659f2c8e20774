// SPDX-License-Identifier: Apache-2.0
//
// What an MPI makes of several lanes: whether their workers go on side by side in it, or take turns. A pure function of what is
// known of the MPIs (docs/lanes.md) and of the one setting on which that depends. Knows no MPI itself.
#pragma once

#include "mpi/name.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace commtask::detail {

struct lanes_in_mpi {
    bool are_independent; ///< False too if nobody knows.
    std::string sentence; ///< For a user who has asked for `n_lanes`.
};

/// @param n_vcis  MPICH's MPIR_CVAR_CH4_NUM_VCIS as the process had it; 0: not set
[[nodiscard]] lanes_in_mpi lanes_below(const mpi_name& mpi, std::size_t n_lanes, int n_vcis);

/// What must be in the environment before MPI_Init for lanes that go on side by side.
struct setting_below {
    std::string variable;
    std::string value;
};

/// Nothing where nothing helps: an MPICH before 4.1 that is asked for a second context aborts in MPI_Init.
[[nodiscard]] std::optional<setting_below> setting_for_lanes(const mpi_name& mpi, std::size_t n_lanes);

/// The same, with the process's environment.
[[nodiscard]] lanes_in_mpi lanes_below(const mpi_name& mpi, std::size_t n_lanes);

} // namespace commtask::detail
