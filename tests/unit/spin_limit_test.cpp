// SPDX-License-Identifier: Apache-2.0
//
// What a blocking call learns about looking: the rule alone, without calls, since whether an answer comes in time is the
// machine's affair.
#include "spin_limit.hpp"

#include <gtest/gtest.h>

namespace commtask::interposer {
namespace {

TEST(LookPatience, GrowsByAnswersThatCameLateButBeforeAYield) {
    spin_limit patience;
    EXPECT_EQ(patience.now(), spin_limit::least);
    for (int i = 0; i < 10; ++i) patience.ended_at_poll(patience.now() / 2);
    EXPECT_EQ(patience.now(), spin_limit::most);
}

TEST(LookPatience, LearnsNothingFromAnswersThatWereThere) {
    spin_limit patience;
    for (int i = 0; i < 10; ++i) patience.ended_at_poll(1);
    EXPECT_EQ(patience.now(), spin_limit::least);
}

TEST(LookPatience, IsLostWhenNothingComes) {
    spin_limit patience;
    for (int i = 0; i < 10; ++i) patience.ended_at_poll(patience.now());
    for (int i = 0; i < 3; ++i) patience.ran_out();
    EXPECT_EQ(patience.now(), spin_limit::most / 8);
    for (int i = 0; i < 10; ++i) patience.ran_out();
    EXPECT_EQ(patience.now(), spin_limit::least);
}

} // namespace
} // namespace commtask::interposer
