// SPDX-License-Identifier: Apache-2.0
//
// The counters travel as plain 64-bit words (stats.hpp promises that layout), so one gather without a datatype of its
// own is enough. Ranks of one job run the same build.
#include "mpi_stats.hpp"

#include "mpi_node.hpp"

#include <cstddef>

namespace commtask::detail {

gathered_stats collective_gather_stats(MPI_Comm comm, const lane_stats& mine, int root) {
    gathered_stats result;
    int n_ranks = 0;
    int me = 0;
    int code = MPI_Comm_size(comm, &n_ranks);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(comm, &me);
    const char* call = "MPI_Comm_size or MPI_Comm_rank";
    if (code == MPI_SUCCESS) {
        if (me == root) result.ranks.resize(static_cast<std::size_t>(n_ranks));
        call = "MPI_Gather";
        constexpr int n_words = static_cast<int>(lane_stats_words);
        code = MPI_Gather(&mine, n_words, MPI_UINT64_T, result.ranks.data(), n_words, MPI_UINT64_T, root, comm);
    }
    if (code != MPI_SUCCESS) {
        result.failure = mpi_failure_text(call, code);
        result.ranks = {mine};
    }
    return result;
}

} // namespace commtask::detail
