// SPDX-License-Identifier: Apache-2.0
//
// Brings the counters of all ranks to rank 0, which prints them in one table. commtask_finalize is
// not collective, and a rank that gives tasks up sends nothing. Therefore a rank sends without
// waiting for rank 0, on a communicator of the library's own. Rank 0 waits for the other ranks for
// a limited time. The cost is memory at rank 0: a few kilobytes for every rank of the job, once, at
// the end.
#pragma once

#include "core/counters.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace commtask::detail {

/// A communicator of the library's own for this purpose. The first call makes it; MPI frees it in
/// MPI_Finalize, since freeing is collective. Called by every rank of MPI_COMM_WORLD.
/// @return MPI_COMM_NULL if MPI refuses
enum class own_comm : unsigned { statistics, clocks, announcements };
[[nodiscard]] MPI_Comm collective_own_comm(own_comm purpose) noexcept;

struct gathered_stats {
    /// At rank 0 the lanes of each rank whose counters came; empty elsewhere.
    std::vector<lane_stats> stats;
    std::vector<int> ranks; ///< These ranks, in the same order.
    int n_ranks = 0;        ///< The number of ranks of the job.
};

/// Any rank, once per session. Not collective; needs no worker.
/// @param session  the same number at every rank: a message that is too late for one session is not
/// taken for the next
/// @param mine  the statistics of this rank's lanes, of the same number on every rank
/// @param patience_ns  how long rank 0 waits since the last message that came; how long another
/// rank waits until MPI has taken its message
[[nodiscard]] gathered_stats gather_stats(MPI_Comm comm, int session, const std::vector<lane_stats>& mine,
                                          std::uint64_t patience_ns);

} // namespace commtask::detail
