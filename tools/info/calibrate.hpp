// SPDX-License-Identifier: Apache-2.0
//
// commtask-info --calibrate: measures what lanes gain on this machine, and writes the table for
// COMMTASK_LANE_TABLE. The measurement goes through the runtime, so that the figures include a
// program's overhead.
#pragma once

#include <mpi.h>

#include <string>

namespace commtask::info {

/// Called by all ranks: either one rank, which sends to itself, or two. Rank 0 prints and writes.
/// @return the exit status, the same on all ranks
[[nodiscard]] int collective_calibrate(MPI_Comm comm, const std::string& file);

} // namespace commtask::info
