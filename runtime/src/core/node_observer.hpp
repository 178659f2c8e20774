// SPDX-License-Identifier: Apache-2.0
//
// A lane tells this observer of operations that other ranks may wait for, where the ranks of a node
// ring each other's doorbells (doorbell/node_ringer.hpp). A lane without doorbells has no observer,
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
        std::int32_t rank; ///< In the communicator.
        std::uint32_t node_rank;
    };
    std::vector<neighbor> neighbors{}; ///< The other ranks on this node, in ascending order.
    /// Indexed by rank: the rank in MPI_COMM_WORLD of a rank on another node; otherwise -1.
    std::vector<std::int32_t> remote_ranks{};
    bool are_all = false; ///< Every rank that a message can come from is on this node.

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

    /// The call into MPI comes next.
    virtual void starting(const task& which) noexcept = 0;
    /// MPI has the operation, or will have it when started_gathered() is called. If MPI has
    /// completed the operation in the call, it has no open parts, and ended() is not called for it.
    virtual void started(task& which, bool is_gathered) noexcept = 0;
    /// MPI has the members of plans that were gathered.
    virtual void started_gathered() noexcept = 0;
    /// MPI has completed the operation, or the lane has given it up.
    virtual void ended(const task& which) noexcept = 0;
    /// Called in each progress call: sends announcements, and receives them.
    virtual void polled() noexcept = 0;
    /// Whether MPI has not taken all announcements yet.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;

    // The lane's worker ---------------------------------------------------------------------------

    /// Whether operations are in flight, and other ranks ring for all of them.
    [[nodiscard]] virtual bool is_rung_for_all() const noexcept = 0;
    /// The worker's doorbell is armed.
    virtual void armed() noexcept = 0;

    /// Any thread. Whether this lane must receive announcements, since a worker of the node is
    /// armed.
    [[nodiscard]] virtual bool must_listen() const noexcept = 0;
    /// Once no thread makes progress: the number of workers of the node that this lane has woken.
    [[nodiscard]] virtual std::uint64_t n_rung() const noexcept = 0;

protected:
    ~node_observer() = default;
};

} // namespace commtask::detail
