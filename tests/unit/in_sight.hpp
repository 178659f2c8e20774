// SPDX-License-Identifier: Apache-2.0
//
// What tests see of a worker that sleeps where the ranks of its node find it. That it does not is seen by passes of its lane, which
// need no clock.
#pragma once

#include "core/lane.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace commtask::detail::testing {

/// Whether the worker of this rank's first lane does.
[[nodiscard]] inline bool sleeps_in_sight(const node_bells& mine) { return mine.my_line(0).is_asleep(); }

/// Whether it is seen to do so before its lane has made so many passes more.
[[nodiscard]] inline bool is_seen_asleep(const node_bells& mine, const lane& its, std::uint64_t n_passes) {
    const std::uint64_t before = its.approx_passes();
    bool was_seen = false;
    EXPECT_TRUE(comes_true([&] {
        was_seen = was_seen || sleeps_in_sight(mine);
        return its.approx_passes() > before + n_passes;
    }));
    return was_seen;
}

} // namespace commtask::detail::testing
