// SPDX-License-Identifier: Apache-2.0
//
// Compares ranks in MPI_COMM_WORLD. Processes of another MPI_COMM_WORLD (dynamic processes) have no
// such rank, and so no doorbell.
#include "doorbell/peers.hpp"

#include "mpi/groups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace commtask::detail {

std::unique_ptr<const node_peers> peers_of(MPI_Comm comm, bool is_intercommunicator, const doorbells& all,
                                           bool announces_remote) noexcept {
    try {
        auto made = std::make_unique<node_peers>();
        own_group others;
        int me = MPI_UNDEFINED;
        if (!is_intercommunicator && MPI_Comm_rank(comm, &me) != MPI_SUCCESS) return {};
        std::vector<int> in_world;
        const int code =
            is_intercommunicator ? MPI_Comm_remote_group(comm, &others.group) : MPI_Comm_group(comm, &others.group);
        if (code != MPI_SUCCESS || !read_ranks_in(MPI_COMM_WORLD, others.group, in_world)) return {};
        made->are_all = true;
        if (announces_remote) made->remote_ranks.assign(in_world.size(), -1);
        const std::vector<int>& node = all.world_ranks();
        for (std::size_t rank = 0; rank < in_world.size(); ++rank) {
            if (static_cast<int>(rank) == me) continue;
            const auto found = std::ranges::lower_bound(node, in_world[rank]);
            if (found != node.end() && *found == in_world[rank]) {
                made->neighbors.push_back(
                    {static_cast<std::int32_t>(rank), static_cast<std::uint32_t>(found - node.begin())});
                continue;
            }
            made->are_all = false;
            if (announces_remote && in_world[rank] != MPI_UNDEFINED) made->remote_ranks[rank] = in_world[rank];
        }
        made->neighbors.shrink_to_fit();
        return made;
    } catch (const std::bad_alloc&) {
        return {};
    }
}

} // namespace commtask::detail
