// SPDX-License-Identifier: Apache-2.0
//
// What counts of passes tell a shared worker of the threads that drive beside it: that they do, and that they did since it last
// slept, though a pass of its own came after; and what counts of ends tell of how long their tasks last.
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
    others.begin_pause(0);
    others.look(7);
    others.know(8);
    for (int turn = 0; turn < 3; ++turn) {
        others.look(8);
        EXPECT_FALSE(others.is_here()) << turn;
        EXPECT_TRUE(others.was_here()) << turn << ": its own pass found what they had begun, and says nothing of them";
    }
    others.begin_pause(0);
    others.look(8);
    EXPECT_FALSE(others.was_here()) << "nobody came while it slept";
}

TEST(Company, IsBriskIfManyTasksEndedInThePauseBefore) {
    company others;
    EXPECT_FALSE(others.is_brisk());
    std::uint64_t n_ended = tuning::ends_of_brisk_others;
    others.begin_pause(n_ended);
    EXPECT_TRUE(others.is_brisk());
    n_ended += tuning::ends_of_brisk_others - 1;
    others.begin_pause(n_ended);
    EXPECT_FALSE(others.is_brisk()) << "counted from the pause before";
    n_ended += tuning::ends_of_brisk_others;
    others.begin_pause(n_ended);
    EXPECT_TRUE(others.is_brisk());
    others.begin_pause(n_ended);
    EXPECT_FALSE(others.is_brisk()) << "nothing ended since";
}

} // namespace
} // namespace commtask::detail
