// SPDX-License-Identifier: Apache-2.0
//
// How often a driver rings again for messages that are open at both ends. An MPI that moves a message in pieces needs both sides at
// each piece, and a poll does not say whether it has moved one. So each look that ends nothing rings who sleeps at the other end,
// no quicker than workers without bells would look: what is open and does not move, such as two messages that only look alike,
// costs no more than naps.
#pragma once

#include "base/tuning.hpp"

#include <cstddef>
#include <cstdint>

namespace commtask::detail {

class ring_pace {
public:
    [[nodiscard]] bool may_ring(std::uint64_t now_ns) const noexcept { return now_ns >= next_ns_; }

    /// It is about to look through `n_open` operations.
    void rings(std::uint64_t now_ns, std::size_t n_open) noexcept {
        next_ns_ = now_ns + tuning::ring_pause_ns + n_open * tuning::ring_pause_for_each_open_ns;
    }

private:
    std::uint64_t next_ns_ = 0;
};

} // namespace commtask::detail
