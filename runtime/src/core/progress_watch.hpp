// SPDX-License-Identifier: Apache-2.0
//
// Detects a progress call that takes longer than commtask_finalize waits: a function of the
// program, or a call of MPI, does not return. Each lane has a limit of its own, since the other
// lanes make progress.
#pragma once

#include "core/drain.hpp"
#include "core/lane_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

class progress_watch {
public:
    /// @param limit_ns  the limit of commtask_finalize; 0: none
    explicit progress_watch(std::uint64_t limit_ns) noexcept { limits_.fill(drain_limit::for_progress_call(limit_ns)); }

    [[nodiscard]] bool is_over(lane_set& lanes, std::uint64_t now) noexcept {
        bool is_any_over = false;
        for (lane& each : lanes) is_any_over = is_over(each, now) || is_any_over;
        return is_any_over;
    }

    /// For one lane.
    [[nodiscard]] bool is_over(const lane& of, std::uint64_t now) noexcept {
        return limits_[of.number()].is_over({now, of.engine.approx_progress_calls(), true}) &&
               of.engine.lock.approx_is_taken();
    }

private:
    std::array<drain_limit, most_lanes> limits_; ///< Indexed by lane.
};

} // namespace commtask::detail
