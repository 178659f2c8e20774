// SPDX-License-Identifier: Apache-2.0
//
// Decides when commtask_finalize stops waiting: a pure function of times. A program that can never
// end must not hang, and a slow program must not lose tasks. So there are two limits. The user's
// limit applies while MPI or a function of the program is at work. A short limit applies while only
// a signal in transit could change anything.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// An observation of the lanes.
struct drain_sample {
    std::uint64_t now_ns;
    std::uint64_t n_ended; ///< The number of tasks that have ended.
    /// An operation is in flight, or the progress thread is in a function of the program.
    bool is_at_work;
};

class drain_limit {
public:
    /// @param limit_ns  0: no limit while something is at work
    explicit drain_limit(std::uint64_t limit_ns = 0) noexcept : limit_ns_(limit_ns) {}

    /// Whether the limit has passed. Each task that ends, and each restart(), restarts the time.
    [[nodiscard]] bool is_over(const drain_sample& sample) noexcept {
        if (!has_begun_ || sample.n_ended != n_ended_) {
            has_begun_ = true;
            n_ended_ = sample.n_ended;
            since_ns_ = idle_since_ns_ = sample.now_ns;
            return false;
        }
        if (sample.is_at_work) {
            idle_since_ns_ = sample.now_ns; // The work may have sent a signal to another thread.
            return limit_ns_ > 0 && sample.now_ns - since_ns_ >= limit_ns_;
        }
        constexpr std::uint64_t longest_ns = tuning::longest_stall_ns;
        return sample.now_ns - idle_since_ns_ >= (limit_ns_ > 0 ? std::min(limit_ns_, longest_ns) : longest_ns);
    }

    void restart() noexcept { has_begun_ = false; }

    /// The user's limit for one progress call: after this time, the progress thread is considered
    /// stuck.
    [[nodiscard]] static drain_limit for_progress_call(std::uint64_t limit_ns) noexcept {
        return drain_limit{limit_ns == 0 ? 0 : std::max(limit_ns, tuning::longest_stall_ns)};
    }

private:
    std::uint64_t limit_ns_;
    bool has_begun_ = false;
    std::uint64_t n_ended_ = 0;
    std::uint64_t since_ns_ = 0;
    std::uint64_t idle_since_ns_ = 0; ///< The time since which nothing has been at work.
};

} // namespace commtask::detail
