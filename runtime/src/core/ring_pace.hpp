// SPDX-License-Identifier: Apache-2.0
//
// How often a driver rings again for messages that are open at both ends. An MPI that moves a message in pieces needs both sides at
// each piece, and a poll does not say whether it has moved one. So each look that ends nothing rings who sleeps at the other end,
// at this pace: quick at first, then no quicker than workers without bells would look. What is open and does not move, such as two
// messages that only look alike, costs no more than naps.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

class ring_pace {
public:
    [[nodiscard]] bool may_ring(std::uint64_t now_ns) const noexcept { return now_ns >= next_ns_; }

    /// It has looked through `n_open` operations. @param has_woken  whether somebody slept at the other end of one
    void rang(std::uint64_t now_ns, std::size_t n_open, bool has_woken) noexcept {
        next_ns_ = now_ns + pause_ns_ + n_open * tuning::ring_pause_for_each_open_ns;
        if (has_woken) pause_ns_ = std::min(2 * pause_ns_, tuning::longest_ring_pause_ns);
    }

    void something_ended() noexcept { pause_ns_ = tuning::first_ring_pause_ns; }

private:
    std::uint64_t next_ns_ = 0;
    std::uint64_t pause_ns_ = tuning::first_ring_pause_ns;
};

} // namespace commtask::detail
