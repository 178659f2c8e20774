// SPDX-License-Identifier: Apache-2.0
//
// The number of network contexts that MPI was asked for in MPI_Init, as MPI itself reports it: an
// environment variable may have been set too late, or have no meaning for this MPI. MPI may
// continue with fewer contexts if its network has fewer, and does not report that.
#pragma once

#include "mpi/lanes_below.hpp"

#include <cstddef>

namespace commtask::detail {

/// lanes_below() for this process's MPI. After MPI_Init.
[[nodiscard]] lanes_in_mpi lanes_in_this_mpi(std::size_t n_lanes);

} // namespace commtask::detail
