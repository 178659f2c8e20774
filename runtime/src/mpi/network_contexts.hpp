// SPDX-License-Identifier: Apache-2.0
//
// How many network contexts the process's MPI was asked for in MPI_Init, as MPI itself says: an environment variable may have been
// set too late for it, or mean nothing to it. MPI can go on with fewer, where its network has not so many, and tells nobody.
#pragma once

#include "mpi/lanes_below.hpp"

#include <cstddef>

namespace commtask::detail {

/// What this process's MPI makes of so many lanes. After MPI_Init.
[[nodiscard]] lanes_in_mpi lanes_in_this_mpi(std::size_t n_lanes);

} // namespace commtask::detail
