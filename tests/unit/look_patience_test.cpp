// SPDX-License-Identifier: Apache-2.0
//
// What a blocking call learns about looking: the rule alone, without calls, since whether an answer comes in time is the
// machine's affair.
#include "look_patience.hpp"

#include <gtest/gtest.h>

namespace commtask::interposer {
namespace {

TEST(LookPatience, GrowsByAnswersThatCameLateButBeforeAYield) {
    look_patience patience;
    EXPECT_EQ(patience.now(), look_patience::least);
    for (int i = 0; i < 10; ++i) patience.was_answered_after(patience.now() / 2);
    EXPECT_EQ(patience.now(), look_patience::most);
}

TEST(LookPatience, LearnsNothingFromAnswersThatWereThere) {
    look_patience patience;
    for (int i = 0; i < 10; ++i) patience.was_answered_after(1);
    EXPECT_EQ(patience.now(), look_patience::least);
}

TEST(LookPatience, IsLostWhenNothingComes) {
    look_patience patience;
    for (int i = 0; i < 10; ++i) patience.was_answered_after(patience.now());
    for (int i = 0; i < 3; ++i) patience.was_in_vain();
    EXPECT_EQ(patience.now(), look_patience::most / 8);
    for (int i = 0; i < 10; ++i) patience.was_in_vain();
    EXPECT_EQ(patience.now(), look_patience::least);
}

} // namespace
} // namespace commtask::interposer
