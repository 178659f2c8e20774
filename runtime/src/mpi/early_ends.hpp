// SPDX-License-Identifier: Apache-2.0
//
// Most short sends are complete when the MPI call that starts them returns. A send that is tested
// at once, and is complete, is never added to the table of requests. That saves a fifth of the time
// of a message; a test without success costs one poll of the network. This class therefore learns
// whether to test. It learns each power of two of the count separately, since an MPI changes its
// protocol with the length of a message.
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
    /// Whether to test this send at once; if so, saw() must be called with the result.
    [[nodiscard]] bool may_end_early(std::int64_t count) noexcept {
        habit& known = of(count);
        if (known.left_out == 0) return true;
        --known.left_out;
        return false;
    }

    /// The result of the test. After each consecutive failed test, twice as many sends are not
    /// tested, up to tuning::most_skipped_tests.
    void saw(std::int64_t count, bool has_ended) noexcept {
        habit& known = of(count);
        known.pause =
            has_ended ? 0 : static_cast<std::uint8_t>(std::min(2 * known.pause + 1, tuning::most_skipped_tests));
        known.left_out = known.pause;
    }

private:
    struct habit {
        /// The number of sends that were not tested after the last failed test.
        std::uint8_t pause = 0;
        /// The number of sends that will not be tested next.
        std::uint8_t left_out = 0;
    };

    [[nodiscard]] habit& of(std::int64_t count) noexcept {
        return habits_[static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0))))];
    }

    std::array<habit, 65> habits_{};
};

} // namespace commtask::detail
