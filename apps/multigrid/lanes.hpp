// SPDX-License-Identifier: Apache-2.0
// Which lane carries which ghost message. Sender and receiver must come to the same answer, so it follows from numbers that
// both know: the length of a message, how many there are at most in an exchange, and the message's number.
#pragma once

#include <cstddef>

namespace multigrid {

/// Messages in turn over the first lanes.
struct lane_choice {
    std::size_t n_lanes = 1;
    int lane_of(std::size_t message) const { return static_cast<int>(message % n_lanes); }
};

struct lane_policy {
    int n_lanes = 1;
    bool is_selective = false; ///< Else every exchange is spread over all lanes.

    /// Longer messages fill a network from one lane, and gain nothing by more.
    static constexpr std::size_t most_spread_bytes = 16384;

    lane_choice choose(std::size_t size_bytes, std::size_t /*n_messages*/) const {
        const bool is_long = is_selective && size_bytes > most_spread_bytes;
        return {is_long ? 1 : static_cast<std::size_t>(n_lanes)};
    }
};

} // namespace multigrid
