// SPDX-License-Identifier: Apache-2.0
//
// Decides which core each worker of a node gets and which CPUs are left for computing. A pure function of what all ranks
// of the node asked for: every rank computes the whole map from the same input and finds itself in it, so two ranks
// never take the same core, without a lock or a file between them.
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

/// What one rank brings along.
struct rank_request {
    cpu_set cpus;              ///< The CPUs that the launcher and the cgroup gave it.
    int lanes = 1;             ///< Workers that it starts.
    std::string core = "auto"; ///< COMMTASK_CORE, as accepted by the configuration.
    idle_policy idle = idle_policy::automatic;
};

/// As one line of text, so that ranks can exchange it.
[[nodiscard]] std::string to_text(const rank_request& request);
[[nodiscard]] std::optional<rank_request> rank_request_from_text(std::string_view text);

inline constexpr int no_cpu = -1;

/// What one rank got.
struct rank_place {
    std::vector<int> lane_cpus{};           ///< The worker's CPU per lane, or `no_cpu`: it shares the rank's CPUs.
    cpu_set all_cpus{};                     ///< The rank's CPUs as they were: where a sharing worker runs.
    cpu_set compute_cpus{};                 ///< The mask for compute threads. Never empty unless all_cpus is.
    idle_policy idle = idle_policy::shared; ///< reserved or shared, never automatic.
    std::string reason{};                   ///< Why, in one sentence.
    bool is_warning =
        false; ///< A worker must share although the node may have cores for it, or spins on a shared core: say so once.
    std::optional<std::string> error{}; ///< COMMTASK_CORE cannot be carried out: why, and what would be right.
};

/// The map of the node, one place per request in the same order.
///
/// A rank keeps at least one CPU to compute. Whole cores are taken while that leaves every rank a core, else single
/// hardware threads; when even those do not suffice for all ranks that overlap, all of these share. Ranks that were not
/// bound are spread: each takes its core from its own part of the CPUs that they have in common.
[[nodiscard]] std::vector<rank_place> place_ranks(const node_shape& node, std::span<const rank_request> requests);

} // namespace commtask::detail
