// SPDX-License-Identifier: Apache-2.0
//
// Bursts in virtual time: a submitter hands messages to lanes, each lane's worker gives them to a context of its own, the contexts
// share an adapter and a wire. What a policy is worth on 24 lanes can be seen here on any machine, and every run gives the same
// figures. Not modelled: the receiver beyond its contexts, congestion, other ranks.
#pragma once

#include "core/lane_policy.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace commtask::bench {

struct network {
    std::string name;
    double post_ns = 0;   ///< The submitter's, per message.
    double switch_ns = 0; ///< More if the message before went to another lane.
    double wake_ns = 0;   ///< A lane's worker, before its first message of a burst.
    double worker_ns = 0; ///< Its work per message.
    double gap_ns = 0;    ///< A context takes one message per so many.
    double context_bytes_per_ns = 1;
    double adapter_ns = 0;    ///< The adapter takes one message per so many, from all contexts together...
    double contention_ns = 0; ///< ...and so much more for each context in use beyond the first.
    double wire_bytes_per_ns = 1;
    double latency_ns = 0;
};

/// One limited by what a context injects, one whose contexts get in each other's way, and one with a wire that is soon full.
[[nodiscard]] std::span<const network> three_networks();

/// How a burst is striped.
struct spread {
    unsigned n_lanes = 1;
    unsigned in_row = 1;
    unsigned in_flight = 0; ///< 0: no limit.
};

/// From the first post until the last message's end is known.
[[nodiscard]] double burst_ns(const network& over, const detail::message_burst& burst, const spread& how);

/// What commtask-info --calibrate would find there with 1 to `most_lanes` lanes.
[[nodiscard]] detail::saturation_table calibrated(const network& over, unsigned most_lanes);

/// The best that any number of lanes up to a limit and any row reach, and what the policy does with that limit.
struct comparison {
    double one_lane_ns = 0;
    double best_ns = 0;
    spread best;
    double policy_ns = 0;
    spread policy;
};
/// With the limits 1 to `most_lanes`.
[[nodiscard]] std::vector<comparison> compare(const network& over, const detail::saturation_table& table,
                                              const detail::message_burst& burst, unsigned most_lanes);

/// What is compared.
inline constexpr unsigned most_simulated_lanes = 24;
[[nodiscard]] std::vector<std::size_t> simulated_sizes();
[[nodiscard]] std::vector<std::size_t> simulated_bursts();

} // namespace commtask::bench
