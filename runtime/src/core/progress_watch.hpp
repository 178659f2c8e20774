// SPDX-License-Identifier: Apache-2.0
//
// Whether a progress call of some lane takes longer than commtask_finalize waits: then its thread
// is in a function of the program, or in a call of MPI, that does not return. Each lane is checked
// separately, since the other lanes go on.
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

    /// The check for one lane.
    [[nodiscard]] bool is_over(const lane& of, std::uint64_t now) noexcept {
        return limits_[of.number()].is_over({now, of.engine.approx_progress_calls(), true}) &&
               of.engine.lock.approx_is_taken();
    }

private:
    std::array<drain_limit, most_lanes> limits_; ///< Indexed by lane.
};

} // namespace commtask::detail
