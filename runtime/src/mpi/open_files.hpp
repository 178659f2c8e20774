// SPDX-License-Identifier: Apache-2.0
//
// Counts the tasks that still need a file. A file belongs to no communicator, so its tasks may be
// on any lane, and the calling thread needs all progress locks. Programs close files rarely enough
// for that cost.
#pragma once

#include "core/lane_set.hpp"

#include <mpi.h>

#include <cstddef>

namespace commtask::detail {

/// The calling thread has all progress locks, and every posted task has been accepted.
[[nodiscard]] std::size_t count_tasks_of(const MPI_File& file, lane_set& lanes) noexcept;

} // namespace commtask::detail
