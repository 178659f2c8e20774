// SPDX-License-Identifier: Apache-2.0
//
// What counts of passes tell a shared worker of the threads that drive beside it: that they do, and that they did since it last
// slept, though a pass of its own came after.
#include "core/company.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

TEST(Company, IsSeenByPassesThatTheWorkerHasNotMade) {
    company others;
    others.look(0);
    EXPECT_FALSE(others.is_here());
    others.know(1); // its own
    others.look(1);
    EXPECT_FALSE(others.is_here());
    EXPECT_FALSE(others.was_here());
    others.know_of_more(2); // made while it slept and woke: the lane may have seen more
    others.look(3);
    EXPECT_FALSE(others.was_here());
    others.look(4);
    EXPECT_TRUE(others.is_here());
    EXPECT_TRUE(others.was_here());
}

TEST(Company, IsRememberedUntilTheNextPause) {
    company others;
    others.begin_pause();
    others.look(7);
    others.know(8);
    for (int turn = 0; turn < 3; ++turn) {
        others.look(8);
        EXPECT_FALSE(others.is_here()) << turn;
        EXPECT_TRUE(others.was_here()) << turn << ": its own pass found what they had begun, and says nothing of them";
    }
    others.begin_pause();
    others.look(8);
    EXPECT_FALSE(others.was_here()) << "nobody came while it slept";
}

} // namespace
} // namespace commtask::detail
