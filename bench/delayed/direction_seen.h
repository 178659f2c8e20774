// SPDX-License-Identifier: Apache-2.0
//
// What one direction of a wire or link carried, and how late: one form for every emulated network, so that one driver
// reads their reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace commtask::bench {

struct direction_seen {
    static constexpr std::size_t most_late_samples = 1'000'000;

    std::size_t n_frames = 0; ///< Or messages, where whole ones travel.
    std::uint64_t n_bytes = 0;
    std::size_t n_dropped = 0;   ///< The receiving device refused them.
    std::vector<double> late_us; ///< Of each frame (the first million): handed over this long after it was due.

    /// One frame was handed over at `now_ns`.
    void note(std::int64_t due_ns, std::int64_t now_ns) {
        ++n_frames;
        if (late_us.size() < most_late_samples) {
            late_us.push_back(static_cast<double>(now_ns - due_ns) * 1e-3);
        }
    }
};

/// As it stands in the reports; "late_us" is pairs of microseconds and how many frames were so late.
[[nodiscard]] nlohmann::ordered_json describe(const direction_seen& seen);

} // namespace commtask::bench
