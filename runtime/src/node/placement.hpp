// SPDX-License-Identifier: Apache-2.0
//
// Decides which core each worker of a node gets, and which CPUs remain for computing. A pure
// function of the requests of all ranks of the node: every rank computes the whole map from the
// same input. So two ranks never take the same core, without a lock or a file between them.
#pragma once

#include "base/cpu_set.hpp"
#include "config/config.hpp"
#include "node/topology.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace commtask::detail {

/// The request of a rank.
struct rank_request {
    cpu_set cpus;              ///< The CPUs that the launcher and the cgroup allow the rank.
    int lanes = 1;             ///< The number of workers that the rank starts.
    std::string core = "auto"; ///< The validated value of COMMTASK_CORE.
    idle_policy idle = idle_policy::automatic;
};

/// The request as one line of text, for the exchange between ranks.
[[nodiscard]] std::string to_text(const rank_request& request);
[[nodiscard]] std::optional<rank_request> rank_request_from_text(std::string_view text);

inline constexpr int no_cpu = -1;

/// The placement of a rank.
struct rank_placement {
    /// Indexed by lane: the worker's CPU; `no_cpu`: the worker shares the rank's CPUs.
    std::vector<int> lane_cpus{};
    cpu_set all_cpus{}; ///< The rank's CPUs before the placement.
    /// The CPUs of compute threads; empty only if all_cpus is.
    cpu_set compute_cpus{};
    idle_policy idle = idle_policy::shared; ///< reserved or shared, never automatic.
    std::string reason{};                   ///< The reason for the placement, for messages.
    /// Whether to warn once: a worker shares its core although the node may have a core for it, or
    /// spins on a shared core.
    bool is_warning = false;
    /// If COMMTASK_CORE cannot be used: why, and a valid value.
    std::optional<std::string> error{};
};

/// The map of the node: one placement per request, in the same order.
///
/// A rank keeps at least one CPU to compute. Workers get whole cores if that leaves every rank a
/// core; otherwise they get single hardware threads. If there are too few hardware threads for
/// ranks that overlap, all workers of these ranks share their cores. Ranks that were not bound are
/// distributed: each takes its core from its own part of the common CPUs.
[[nodiscard]] std::vector<rank_placement> place_ranks(const node_shape& node, std::span<const rank_request> requests);

} // namespace commtask::detail
