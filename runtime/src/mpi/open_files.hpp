// SPDX-License-Identifier: Apache-2.0
//
// Which tasks still need a file. A file is no communicator's, so they may be in any lane: who asks holds all of them, which a file
// that is closed seldom may cost.
#pragma once

#include "core/lane_set.hpp"

#include <mpi.h>

#include <cstddef>

namespace commtask::detail {

/// The calling thread has all progress locks, once everything that was posted has been taken in.
[[nodiscard]] std::size_t count_tasks_of(const MPI_File& file, lane_set& lanes) noexcept;

} // namespace commtask::detail
