// SPDX-License-Identifier: Apache-2.0
//
// What an MPI makes of several lanes: whether their workers go on side by side in it, or take turns. A pure function of what is
// known of the MPIs (docs/lanes.md) and of the one setting on which that depends. Knows no MPI itself.
#pragma once

#include "mpi/name.hpp"

#include <cstddef>
#include <string>

namespace commtask::detail {

struct lanes_in_mpi {
    bool are_independent; ///< False too if nobody knows.
    std::string sentence; ///< For a user who has asked for `n_lanes`.
};

/// @param n_vcis  MPICH's MPIR_CVAR_CH4_NUM_VCIS as the process had it; 0: not set
[[nodiscard]] lanes_in_mpi lanes_below(const mpi_name& mpi, std::size_t n_lanes, int n_vcis);

/// The same, with the process's environment.
[[nodiscard]] lanes_in_mpi lanes_below(const mpi_name& mpi, std::size_t n_lanes);

} // namespace commtask::detail
