// SPDX-License-Identifier: Apache-2.0
//
// When a frame arrives: the arithmetic of one direction of a wire, apart from threads and devices so that it can be
// tested. A frame occupies the wire for its bytes over the rate, one after the other, and arrives one delay after it
// has left. This is a full-duplex cable without loss; contention inside a switch is not modelled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace commtask::bench {

class link_model {
public:
    /// `rate_mb_per_s` counts 10^6 bytes per second and must be positive.
    link_model(std::int64_t delay_ns, double rate_mb_per_s)
        : delay_ns_(delay_ns), ns_per_byte_(1000.0 / rate_mb_per_s) {}

    /// The time at which a frame that was handed over at `now_ns` reaches the other end. Frames must be handed over
    /// in the order of time; the answers then ascend.
    std::int64_t arrival_ns(std::int64_t now_ns, std::size_t size_bytes) {
        const double occupied_ns = static_cast<double>(size_bytes) * ns_per_byte_;
        free_at_ns_ = std::max(now_ns, free_at_ns_) + static_cast<std::int64_t>(occupied_ns);
        return free_at_ns_ + delay_ns_;
    }

private:
    std::int64_t delay_ns_;
    double ns_per_byte_;
    std::int64_t free_at_ns_ = 0; ///< The wire is busy with earlier frames until then.
};

/// What one context of an adapter injects: a message per gap. Several contexts inject side by side, which is what several lanes are
/// for. It takes no time of the wire.
class context_gaps {
public:
    explicit context_gaps(std::int64_t gap_ns) : gap_ns_(gap_ns) {}

    /// When the last of `n_messages` has left that the wire could carry by `passed_ns`.
    std::int64_t leaves_ns(int context, std::int64_t passed_ns, int n_messages = 1) {
        std::int64_t& free_at_ns = free_at_ns_[context];
        const std::int64_t last_ns = std::max(passed_ns, free_at_ns) + (n_messages - 1) * gap_ns_;
        free_at_ns = last_ns + gap_ns_;
        return last_ns;
    }

private:
    std::int64_t gap_ns_;
    std::map<int, std::int64_t> free_at_ns_;
};

} // namespace commtask::bench
