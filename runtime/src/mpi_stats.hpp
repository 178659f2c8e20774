// SPDX-License-Identifier: Apache-2.0
//
// Brings the counters of all ranks to one, which prints them: a single table is readable, a table per process is not.
// The price is memory at that rank: a few kilobytes for every rank of the job, once, at the end.
#pragma once

#include "stats.hpp"

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace commtask::detail {

struct gathered_stats {
    std::vector<lane_stats> ranks; ///< At the root one per rank, elsewhere none. On a failure this rank's alone.
    std::optional<std::string> failure{};
};

/// Called by every rank of `comm`, whose error handler must return.
[[nodiscard]] gathered_stats collective_gather_stats(MPI_Comm comm, const lane_stats& mine, int root);

} // namespace commtask::detail
