// SPDX-License-Identifier: Apache-2.0
//
// commtask-info --calibrate: measures what lanes bring here and writes the table for COMMTASK_LANE_TABLE. Through the runtime, so
// that the figures have in them what a program pays.
#pragma once

#include <mpi.h>

#include <string>

namespace commtask::info {

/// Called by all ranks: one, which sends to itself, or two. Rank 0 prints and writes.
/// @return the exit status, the same on all ranks
[[nodiscard]] int collective_calibrate(MPI_Comm comm, const std::string& file);

} // namespace commtask::info
