// SPDX-License-Identifier: Apache-2.0
//
// What a worker that shares its core knows of it: its own yields tell. One that comes back at once found nobody else who
// wants the core; one that takes long found somebody who computes. Such a worker may stay awake on an idle core, where it
// takes nothing from anybody and is there when something comes; for what other processes do to a window it stays as long as the
// core is idle, and after naps asks again. A pure function of times, so it is tested without a clock.
#pragma once

#include "base/tuning.hpp"

#include <cstdint>

namespace commtask::detail {

/// What a worker that stays awake is there for.
enum class awaiting : std::uint8_t {
    posts,    ///< Nothing is unfinished.
    ends,     ///< Something is in flight.
    accesses, ///< There is a window.
};

class core_gauge {
public:
    /// `linger_ns`: how long to stay awake on an idle core with nothing in flight.
    explicit core_gauge(std::uint64_t linger_ns) noexcept : linger_ns_(linger_ns) {}

    /// A yield that left at `begin_ns` and came back at `end_ns`.
    /// @param n_passes  of others meanwhile that are no reason to leave: who drives gives the core back when it has nothing to do
    void yielded(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t n_passes = 0) noexcept {
        if (end_ns - begin_ns > tuning::long_yield_ns + n_passes * tuning::pass_of_others_ns) {
            is_idle_ = false;
            others_until_ns_ = end_ns + tuning::distrust_ns;
        } else {
            is_idle_ = is_idle_ || end_ns >= others_until_ns_;
        }
    }

    [[nodiscard]] bool is_idle() const noexcept { return is_idle_; }

    /// A pass moved something, or the worker was woken.
    void found_something() noexcept { nothing_since_ns_ = 0; }

    /// Whether a worker that found nothing stays awake all the same.
    [[nodiscard]] bool may_linger(std::uint64_t now_ns, awaiting what) noexcept {
        if (!is_idle_) return false;
        if (nothing_since_ns_ == 0) nothing_since_ns_ = now_ns;
        // What others do to a window is nothing that a pass moves: there is no last find to count from.
        if (what == awaiting::accesses) return true;
        return now_ns - nothing_since_ns_ < (what == awaiting::ends ? tuning::linger_with_work_ns : linger_ns_);
    }

    /// A nap of a worker that stays on an idle core only.
    struct past_nap {
        std::uint64_t ns;
        std::uint64_t used_ns;    ///< Of the processor, by the process meanwhile.
        std::uint64_t longest_ns; ///< That it could have asked for.
    };
    /// @return whether a yield is worth its risk: on a core where somebody computes it may take until the next tick, or the one after. Who
    /// got the core back late need not ask, though its own process has not had it.
    [[nodiscard]] bool is_worth_a_yield(std::uint64_t now_ns, const past_nap& nap) const noexcept {
        return now_ns >= others_until_ns_ && nap.used_ns < nap.ns / tuning::share_of_a_quiet_nap &&
               nap.ns < nap.longest_ns + tuning::late_nap_ns;
    }

private:
    const std::uint64_t linger_ns_;
    bool is_idle_ = false; ///< The last yields came back at once.
    std::uint64_t others_until_ns_ = 0;
    std::uint64_t nothing_since_ns_ = 0; ///< When it began to find nothing; 0: not yet.
};

} // namespace commtask::detail
