// SPDX-License-Identifier: Apache-2.0
//
// How long a shared worker with something in flight naps, as a function of what it has done before. Each nap is twice as long as
// the last, up to COMMTASK_NAP_MAX_US. If the neighbours of the node ring for all that is in flight, a few such naps suffice, and
// the next ones grow further, by four: a bell ends them. The few are for what no bell tells: a large message that both sides move on.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// How much of what is in flight the neighbours ring for. In this order: the least of several holds for all.
enum class foreseen : std::uint8_t {
    nothing, ///< For something they do not: it comes from elsewhere, or by ways that nobody sees.
    ends,    ///< For its end, as of a collective.
    all,     ///< For each step.
};

struct planned_nap {
    std::int64_t ns;
    bool is_in_sight; ///< Of the neighbours.
};

class nap_plan {
public:
    explicit nap_plan(std::int64_t max_ns) noexcept : max_ns_(max_ns) {}

    /// Something has moved, or a bell rang.
    void restart() noexcept {
        next_ns_ = tuning::first_nap_ns;
        n_full_ = 0;
    }

    /// A bell rang, or a thread of the program has started something, where the last bell brought no end yet: no nap beyond the
    /// bound, and no shorter one.
    void begin_at_bound() noexcept {
        next_ns_ = std::min(next_ns_, max_ns_);
        n_full_ = 0;
    }

    /// It has slept in sight of nothing yet, or for as long as it may: the next nap is as long.
    void go_on_at_longest() noexcept {
        next_ns_ = std::max(max_ns_, tuning::longest_nap_in_sight_ns);
        n_full_ = tuning::full_naps_before_longer;
    }

    /// Whether it matters what is in flight: shorter naps are the same for all.
    [[nodiscard]] bool is_full() const noexcept { return next_ns_ >= max_ns_; }

    [[nodiscard]] planned_nap next(foreseen what) noexcept {
        if (!is_full()) {
            const std::int64_t ns = next_ns_;
            next_ns_ = std::min(2 * next_ns_, max_ns_);
            return {ns, false};
        }
        if (what == foreseen::nothing) return {max_ns_, false};
        if (what == foreseen::ends || ++n_full_ <= tuning::full_naps_before_longer) return {max_ns_, true};
        next_ns_ = std::min(4 * next_ns_, std::max(max_ns_, tuning::longest_nap_in_sight_ns));
        return {next_ns_, true};
    }

private:
    const std::int64_t max_ns_;
    std::int64_t next_ns_ = tuning::first_nap_ns;
    int n_full_ = 0; ///< Naps of that length, in sight.
};

} // namespace commtask::detail
