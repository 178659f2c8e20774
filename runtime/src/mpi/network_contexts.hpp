// SPDX-License-Identifier: Apache-2.0
//
// The number of network contexts requested in MPI_Init, as MPI reports it: an environment variable
// may have been set too late, or be unknown to this MPI. If the network has fewer contexts, MPI may
// continue with fewer, and does not report that.
#pragma once

#include "mpi/lanes_below.hpp"

#include <cstddef>

namespace commtask::detail {

/// lanes_below() for the MPI at run time. Called after MPI_Init.
[[nodiscard]] lanes_in_mpi lanes_in_this_mpi(std::size_t n_lanes);

} // namespace commtask::detail
