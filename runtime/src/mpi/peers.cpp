// SPDX-License-Identifier: Apache-2.0
//
// The number of a communicator is a hash (FNV-1a) over the places of its ranks in MPI_COMM_WORLD; of an intercommunicator the sum
// of both groups', so that both sides have the same. Ranks of another world have no place, and no bell.
#include "mpi/peers.hpp"

#include "mpi/groups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace commtask::detail {
namespace {

[[nodiscard]] std::uint32_t hash_of(const std::vector<int>& world_ranks) noexcept {
    std::uint32_t hash = 2166136261U;
    for (const int rank : world_ranks) {
        const int known = rank == MPI_UNDEFINED ? -1 : rank;
        for (unsigned shift = 0; shift < 32; shift += 8) {
            hash = (hash ^ (static_cast<std::uint32_t>(known) >> shift & 0xffU)) * 16777619U;
        }
    }
    return hash;
}

} // namespace

std::unique_ptr<const node_peers> peers_of(MPI_Comm comm, bool is_intercommunicator, const node_bells& bells,
                                           bool knows_far) noexcept {
    try {
        auto made = std::make_unique<node_peers>();
        own_group local;
        own_group remote;
        if (MPI_Comm_group(comm, &local.group) != MPI_SUCCESS || MPI_Comm_rank(comm, &made->me) != MPI_SUCCESS)
            return {};
        if (is_intercommunicator && MPI_Comm_remote_group(comm, &remote.group) != MPI_SUCCESS) return {};
        std::vector<int> ours;
        std::vector<int> of_remote;
        if (!read_ranks_in(MPI_COMM_WORLD, local.group, ours)) return {};
        if (is_intercommunicator && !read_ranks_in(MPI_COMM_WORLD, remote.group, of_remote)) return {};
        const std::vector<int>& theirs = is_intercommunicator ? of_remote : ours;
        made->context = hash_of(ours) + (is_intercommunicator ? hash_of(theirs) : 0U);
        made->are_all = true;
        if (knows_far) made->far_ranks.assign(theirs.size(), -1);
        made->is_each_far_known = knows_far && std::ranges::find(theirs, MPI_UNDEFINED) == theirs.end();
        const std::span<const int> node = bells.world_ranks();
        for (std::size_t rank = 0; rank < theirs.size(); ++rank) {
            if (!is_intercommunicator && static_cast<std::int32_t>(rank) == made->me) continue;
            const auto place = std::ranges::lower_bound(node, theirs[rank]);
            if (place == node.end() || *place != theirs[rank]) {
                made->are_all = false;
                if (knows_far && theirs[rank] != MPI_UNDEFINED) made->far_ranks[rank] = theirs[rank];
                continue;
            }
            made->neighbors.push_back(
                {static_cast<std::int32_t>(rank), static_cast<std::uint32_t>(place - node.begin())});
        }
        made->neighbors.shrink_to_fit();
        return made;
    } catch (const std::bad_alloc&) {
        return {};
    }
}

} // namespace commtask::detail
