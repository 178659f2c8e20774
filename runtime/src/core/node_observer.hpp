// SPDX-License-Identifier: Apache-2.0
//
// The interface between a lane and the doorbells of a node's ranks (doorbell/node_ringer.hpp): the
// lane reports operations for which other ranks may wait. A lane without doorbells has no observer,
// and pays one branch for each event.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace commtask::detail {

struct task;

/// The ranks of a communicator that are on this node.
struct node_peers {
    struct neighbor {
        std::int32_t rank; ///< The rank in the communicator.
        std::uint32_t node_rank;
    };
    std::vector<neighbor> neighbors{}; ///< The other ranks on this node, ascending.
    /// Indexed by rank: for a rank on another node, its rank in MPI_COMM_WORLD; otherwise -1.
    std::vector<std::int32_t> remote_ranks{};
    bool are_all = false; ///< All ranks that can send to this rank are on this node.

    /// @return null if `rank` is on another node, or is this rank
    [[nodiscard]] const neighbor* find(std::int32_t rank) const noexcept {
        const auto found = std::ranges::lower_bound(neighbors, rank, {}, &neighbor::rank);
        return found == neighbors.end() || found->rank != rank ? nullptr : &*found;
    }
    [[nodiscard]] std::int32_t remote_rank_of(std::int32_t rank) const noexcept {
        const bool is_known = rank >= 0 && static_cast<std::size_t>(rank) < remote_ranks.size();
        return is_known ? remote_ranks[static_cast<std::size_t>(rank)] : -1;
    }
};

class node_observer {
public:
    // The lane's progress thread ------------------------------------------------------------------

    /// Called before the call of MPI.
    virtual void starting(const task& which) noexcept = 0;
    /// The operation was started, or will be by started_gathered(). If MPI has completed it in the
    /// call, it has no open parts, and ended() is not called.
    virtual void started(task& which, bool is_gathered) noexcept = 0;
    /// The gathered members of plans were started.
    virtual void started_gathered() noexcept = 0;
    /// The operation has completed, or was abandoned.
    virtual void ended(const task& which) noexcept = 0;
    /// Called in each progress call: sends and receives announcements.
    virtual void polled() noexcept = 0;
    /// Whether announcements are waiting to be sent.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;

    // The lane's worker ---------------------------------------------------------------------------

    /// Whether operations are in flight, and other ranks' doorbells announce all of them.
    [[nodiscard]] virtual bool is_rung_for_all() const noexcept = 0;
    /// Called when the worker's doorbell is armed.
    virtual void armed() noexcept = 0;

    /// Any thread. Whether this lane must receive announcements because a worker of the node is
    /// armed.
    [[nodiscard]] virtual bool must_listen() const noexcept = 0;
    /// The number of workers of other ranks that this lane has woken. Called when no thread makes
    /// progress any more.
    [[nodiscard]] virtual std::uint64_t n_rung() const noexcept = 0;

protected:
    ~node_observer() = default;
};

} // namespace commtask::detail
