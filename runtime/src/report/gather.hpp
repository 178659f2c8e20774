// SPDX-License-Identifier: Apache-2.0
//
// Sends the counters of all ranks to rank 0, which prints them in one table. commtask_finalize is
// not collective, and a rank that abandons tasks sends nothing. Therefore a rank sends without
// waiting for rank 0, on a communicator of the library's own. Rank 0 waits for the other ranks for
// a limited time. The cost is memory on rank 0: a few kilobytes for every rank of the job, once, at
// the end.
#pragma once

#include "core/counters.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace commtask::detail {

/// The library's communicator for this purpose. Created by the first call, and freed by
/// MPI_Finalize, since freeing is collective. Called by every rank of MPI_COMM_WORLD.
/// @return MPI_COMM_NULL if MPI fails
enum class own_comm : unsigned { statistics, clocks, announcements };
[[nodiscard]] MPI_Comm collective_own_comm(own_comm purpose) noexcept;

struct gathered_stats {
    /// On rank 0 the lanes of each rank whose counters arrived; empty on other ranks.
    std::vector<lane_stats> stats;
    std::vector<int> ranks; ///< The numbers of these ranks, in the same order.
    int n_ranks = 0;        ///< The number of ranks of the job.
};

/// Any rank, once per session. Not collective; needs no worker.
/// @param session  the same number on every rank; a late message of one session is not matched in
/// the next
/// @param mine  the statistics of this rank's lanes, equally many on every rank
/// @param patience_ns  how long rank 0 waits after the last message that arrived; how long another
/// rank waits until its send has completed
[[nodiscard]] gathered_stats gather_stats(MPI_Comm comm, int session, const std::vector<lane_stats>& mine,
                                          std::uint64_t patience_ns);

} // namespace commtask::detail
