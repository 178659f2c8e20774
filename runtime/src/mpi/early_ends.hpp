// SPDX-License-Identifier: Apache-2.0
//
// Most short sends are over when MPI's call returns. One that is asked for at once never enters the table of requests, which
// saves a fifth of a message; asking in vain costs a look at the network. So it is learned, for each order of magnitude
// of the count by itself: an MPI changes its protocol with the length of a message.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

class early_ends {
public:
    /// Whether to ask after this send; answered by saw().
    [[nodiscard]] bool is_worth_a_look(std::int64_t count) noexcept {
        habit& known = of(count);
        if (known.left_out == 0) return true;
        --known.left_out;
        return false;
    }

    /// Whether it had ended. Each time in vain in a row doubles how many are left out next, up to tuning::longest_pause_of_looks.
    void saw(std::int64_t count, bool has_ended) noexcept {
        habit& known = of(count);
        known.pause =
            has_ended ? 0 : static_cast<std::uint8_t>(std::min(2 * known.pause + 1, tuning::longest_pause_of_looks));
        known.left_out = known.pause;
    }

private:
    struct habit {
        std::uint8_t pause = 0;    ///< How many are left out after one in vain.
        std::uint8_t left_out = 0; ///< How many still are.
    };

    [[nodiscard]] habit& of(std::int64_t count) noexcept {
        return habits_[static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0))))];
    }

    std::array<habit, 65> habits_{};
};

} // namespace commtask::detail
