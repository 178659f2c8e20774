// SPDX-License-Identifier: Apache-2.0
//
// Brings the counters of all ranks to rank 0, which prints them: a single table is readable, a table per process is not.
// commtask_finalize is not collective, and a rank that gives tasks up says nothing more: so a rank sends without waiting, on
// a communicator of the library's own, and rank 0 waits for the others for a while only. The price is memory at rank 0: a few
// kilobytes for every rank of the job, once, at the end.
#pragma once

#include "core/counters.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace commtask::detail {

/// A communicator of the library's own for this purpose: made by the first call, and MPI's to free in MPI_Finalize, since that
/// is collective. Called by every rank of MPI_COMM_WORLD.
/// @return MPI_COMM_NULL if MPI refuses
enum class own_comm : unsigned { statistics, clocks, announcements };
[[nodiscard]] MPI_Comm collective_own_comm(own_comm purpose) noexcept;

struct gathered_stats {
    std::vector<lane_stats> stats; ///< At rank 0 those of the lanes of each rank that came, elsewhere none.
    std::vector<int> ranks;        ///< Whose they are, in the same order.
    int n_ranks = 0;               ///< How many there are.
};

/// Any rank, once per session; not collective. Needs no worker.
/// @param session  the same number at every rank: what comes too late for one session is not taken for the next
/// @param mine  of this rank's lanes, as many on every rank
/// @param patience_ns  how long rank 0 waits without hearing from anybody
[[nodiscard]] gathered_stats gather_stats(MPI_Comm comm, int session, const std::vector<lane_stats>& mine,
                                          std::uint64_t patience_ns);

} // namespace commtask::detail
