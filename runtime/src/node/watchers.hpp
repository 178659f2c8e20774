// SPDX-License-Identifier: Apache-2.0
//
// Which rank of a node hears for which others of messages of other nodes. A pure function of what all of them said, so that every rank
// comes to the same without asking again. Ranks of one NUMA node have one, who writes into memory that is near to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace commtask::detail {

/// What a rank tells the others of its node: plain numbers, as they are.
struct node_rank {
    int world_rank; ///< In MPI_COMM_WORLD.
    int has_core;   ///< Not 0: its worker has a core of its own.
    int numa_node;  ///< Where its worker runs; negative: on several, or nobody knows.
    int process;
};

inline constexpr std::size_t no_watcher = SIZE_MAX; ///< In place of a place: none hears.

/// @return the place of the rank that hears for the one in place `of`: near and with a core of its own if there is one, else with a core,
///         else near, else the first
[[nodiscard]] inline std::size_t watcher_of(std::span<const node_rank> node, std::size_t of) noexcept {
    const auto worth = [&](const node_rank& each) {
        const bool is_near = each.numa_node >= 0 && each.numa_node == node[of].numa_node;
        return (each.has_core != 0 ? 2 : 0) + (is_near ? 1 : 0);
    };
    return static_cast<std::size_t>(std::ranges::max_element(node, {}, worth) - node.begin());
}

} // namespace commtask::detail
