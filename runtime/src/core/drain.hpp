// SPDX-License-Identifier: Apache-2.0
//
// When commtask_finalize stops waiting, as a pure function of times: a program that can never end must not hang, and one that
// is slow must not lose its tasks. Two measures: a short one where nothing could move but by a signal that is on its way, and
// the user's own limit where MPI, or a function of the program's, is at work.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// What is seen of a lane in one look.
struct drain_look {
    std::uint64_t now_ns;
    std::uint64_t n_ended; ///< Tasks.
    bool is_at_work;       ///< MPI has something in flight, or a driver is inside a function of the program's.
};

class drain_limit {
public:
    /// `limit_ns` 0: none, as long as something is at work.
    explicit drain_limit(std::uint64_t limit_ns = 0) noexcept : limit_ns_(limit_ns) {}

    /// Whether it is over. Every task that ends, and every restart(), begins it anew.
    [[nodiscard]] bool is_over(const drain_look& look) noexcept {
        if (!has_begun_ || look.n_ended != n_ended_) {
            has_begun_ = true;
            n_ended_ = look.n_ended;
            since_ns_ = idle_since_ns_ = look.now_ns;
            return false;
        }
        if (look.is_at_work) {
            idle_since_ns_ = look.now_ns; // what it was at may have handed something on
            return limit_ns_ > 0 && look.now_ns - since_ns_ >= limit_ns_;
        }
        constexpr std::uint64_t longest_ns = tuning::patience_at_the_end_ns;
        return look.now_ns - idle_since_ns_ >= (limit_ns_ > 0 ? std::min(limit_ns_, longest_ns) : longest_ns);
    }

    void restart() noexcept { has_begun_ = false; }

    /// Of the same user, for one pass of a driver: after it the driver is taken for one that does not come back.
    [[nodiscard]] static drain_limit for_a_pass(std::uint64_t limit_ns) noexcept {
        return drain_limit{limit_ns == 0 ? 0 : std::max(limit_ns, tuning::patience_at_the_end_ns)};
    }

private:
    std::uint64_t limit_ns_;
    bool has_begun_ = false;
    std::uint64_t n_ended_ = 0;
    std::uint64_t since_ns_ = 0;
    std::uint64_t idle_since_ns_ = 0; ///< Since nothing is at work.
};

} // namespace commtask::detail
