// SPDX-License-Identifier: Apache-2.0
//
// What the engine tells of operations that other ranks may wait for, where the ranks of a node ring each other's doorbells
// (doorbell/node_ringer.hpp), and which ranks of a communicator those are. An engine without doorbells pays a branch for each event.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace commtask::detail {

struct task;

/// Which ranks of a communicator are on this node.
struct node_peers {
    struct neighbor {
        std::int32_t rank; ///< In the communicator.
        std::uint32_t place;
    };
    std::vector<neighbor> neighbors{};     ///< The others on this node, by rank.
    std::vector<std::int32_t> far_ranks{}; ///< By rank: the rank in MPI_COMM_WORLD of one on another node; else -1.
    bool are_all = false;                  ///< Every rank that a message can come from is of this node.

    /// @return null if that rank is on another node, or this one
    [[nodiscard]] const neighbor* find(std::int32_t rank) const noexcept {
        const auto found = std::ranges::lower_bound(neighbors, rank, {}, &neighbor::rank);
        return found == neighbors.end() || found->rank != rank ? nullptr : &*found;
    }
    [[nodiscard]] std::int32_t far_rank_of(std::int32_t rank) const noexcept {
        const bool is_known = rank >= 0 && static_cast<std::size_t>(rank) < far_ranks.size();
        return is_known ? far_ranks[static_cast<std::size_t>(rank)] : -1;
    }
};

class node_observer {
public:
    // The lane's progress thread -------------------------------------------------------------------------------------------

    /// MPI's call is about to be made.
    virtual void starting(const task& which) noexcept = 0;
    /// MPI has it, and may have ended it: then it has no open parts, and ended() does not come.
    virtual void started(task& which) noexcept = 0;
    virtual void ended(const task& which) noexcept = 0;
    /// In every pass with something to do.
    virtual void polled() noexcept = 0;
    /// Whether it has something to send that MPI did not take yet.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;

    // The lane's worker ----------------------------------------------------------------------------------------------------

    /// Whether whoever moves what is in flight rings.
    [[nodiscard]] virtual bool is_rung_for_all() const noexcept = 0;
    /// It is about to wait for that.
    virtual void arming() noexcept = 0;

    /// Any thread. Whether ranks of the node wait for this lane to hear of messages from other nodes.
    [[nodiscard]] virtual bool must_listen() const noexcept = 0;
    /// Once nobody makes progress. Workers of the node that this lane has woken.
    [[nodiscard]] virtual std::uint64_t n_rung() const noexcept = 0;

protected:
    ~node_observer() = default;
};

} // namespace commtask::detail
