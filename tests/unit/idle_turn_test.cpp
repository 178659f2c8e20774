// SPDX-License-Identifier: Apache-2.0
//
// What a shared worker does next that found nothing to do. With real threads a window's part in it shows only on a core that is not
// idle, which no test can count on.
#include "core/idle_turn.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

TEST(IdleTurn, LeavesTheCoreForLongToThreadsThatDrive) {
    for (const bool has_work : {false, true}) {
        EXPECT_EQ(pause_after({.has_work = has_work, .others_drive = true}), next_pause::beside_drivers);
        EXPECT_EQ(pause_after({.has_work = has_work, .others_drive = true, .core_is_idle = true}),
                  next_pause::beside_drivers);
        EXPECT_EQ(pause_after({.has_work = has_work, .others_drove = true}), next_pause::beside_drivers);
    }
}

TEST(IdleTurn, WithNothingInFlightExpectsThemForLonger) {
    EXPECT_EQ(pause_after({.others_drove_lately = true}), next_pause::beside_drivers);
    EXPECT_EQ(pause_after({.has_work = true, .others_drove_lately = true}), next_pause::yield);
    EXPECT_EQ(pause_after({.others_drove_lately = true, .core_is_idle = true}), next_pause::sleep);
}

TEST(IdleTurn, OnAnIdleCoreForgetsThoseWhoDroveBefore) {
    EXPECT_EQ(pause_after({.others_drove = true, .core_is_idle = true}), next_pause::sleep);
    EXPECT_EQ(pause_after({.has_work = true, .others_drove = true, .core_is_idle = true}), next_pause::yield);
}

TEST(IdleTurn, YieldsAFewTimesBeforeItNaps) {
    constexpr int most = tuning::yields_before_naps;
    EXPECT_EQ(pause_after({.has_work = true, .n_yields = most - 1}), next_pause::yield);
    EXPECT_EQ(pause_after({.has_work = true, .n_yields = most}), next_pause::nap);
    EXPECT_EQ(pause_after({.n_yields = most}), next_pause::sleep);
}

TEST(IdleTurn, OfOneWithAWindowIsShortWhoeverDrives) {
    for (unsigned known = 0; known < 8; ++known) {
        idle_turn turn{.has_work = true,
                       .attends_windows = true,
                       .others_drive = (known & 1) != 0,
                       .others_drove = (known & 2) != 0,
                       .core_is_idle = (known & 4) != 0};
        EXPECT_EQ(pause_after(turn), next_pause::yield) << known;
        turn.n_yields = tuning::yields_before_naps;
        EXPECT_EQ(pause_after(turn), next_pause::nap) << known;
    }
}

} // namespace
} // namespace commtask::detail
