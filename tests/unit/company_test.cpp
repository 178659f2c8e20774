// SPDX-License-Identifier: Apache-2.0
//
// What counts of passes tell a shared worker of the threads that drive beside it: that they do, and that they did since it last
// slept, though a pass of its own came after; and how long their tasks are in flight.
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
    others.begin_pause({});
    others.look(7);
    others.know(8);
    for (int turn = 0; turn < 3; ++turn) {
        others.look(8);
        EXPECT_FALSE(others.is_here()) << turn;
        EXPECT_TRUE(others.was_here()) << turn << ": its own pass found what they had begun, and says nothing of them";
    }
    others.begin_pause({});
    others.look(8);
    EXPECT_FALSE(others.was_here()) << "nobody came while it slept";
}

TEST(Company, IsExpectedForSomePauses) {
    company others;
    EXPECT_FALSE(others.was_here_lately()) << "nobody was here yet";
    others.look(7);
    for (int i = 0; i < tuning::pauses_until_others_are_gone; ++i) {
        others.begin_pause({});
        EXPECT_TRUE(others.was_here_lately()) << i;
        EXPECT_FALSE(others.was_here()) << i;
    }
    others.begin_pause({});
    EXPECT_FALSE(others.was_here_lately());
}

constexpr std::int64_t short_nap_ns = 600'000;

/// A worker that pauses so often beside hops of `n_tasks` tasks, which are begun at once and end together, `in_flight_ns` later, just
/// before the next hop begins them again. @return of how many of the last 100 pauses it thought that what is in flight ends soon
int brisk_pauses(std::uint64_t n_tasks, std::uint64_t hop_ns, std::uint64_t in_flight_ns, std::uint64_t pause_ns) {
    company others;
    int n_brisk = 0;
    for (std::uint64_t i = 1; i <= 200; ++i) {
        const std::uint64_t now_ns = i * pause_ns;
        const std::uint64_t since_begin_ns = now_ns % hop_ns;
        const bool are_over = since_begin_ns >= in_flight_ns;
        others.begin_pause({now_ns, (now_ns / hop_ns + (are_over ? 1 : 0)) * n_tasks, are_over ? 0 : n_tasks});
        if (i > 100 && others.ends_within(short_nap_ns)) ++n_brisk;
    }
    return n_brisk;
}

TEST(Company, EndsSoonWhereHopsAreShort) {
    // Pauses of either length, which must not decide for themselves.
    for (const std::uint64_t pause_ns : {611'000U, 2'011'000U}) {
        EXPECT_EQ(brisk_pauses(4, 60'000, 50'000, pause_ns), 100) << pause_ns;
        EXPECT_EQ(brisk_pauses(52, 60'000, 50'000, pause_ns), 100) << pause_ns;
    }
}

TEST(Company, DoesNotEndSoonWhereHopsAreLong) {
    for (const std::uint64_t pause_ns : {611'000U, 2'011'000U}) {
        for (const std::uint64_t n_tasks : {1U, 4U, 16U, 52U, 400U}) {
            EXPECT_EQ(brisk_pauses(n_tasks, 5'000'000, 4'000'000, pause_ns), 0) << n_tasks << ", " << pause_ns;
        }
    }
    EXPECT_EQ(brisk_pauses(16, 1'300'000, 1'200'000, 611'000), 0);
}

TEST(Company, EndsSoonWhereHopsAreLongButMessagesAreNot) {
    EXPECT_EQ(brisk_pauses(16, 5'000'000, 40'000, 611'000), 100);
}

TEST(Company, ForgetsALongSleepWithNothingInFlight) {
    company others;
    others.begin_pause({1'000'000, 0, 0});
    others.begin_pause({10'000'000'000, 0, 4});
    others.begin_pause({10'000'600'000, 40, 4});
    EXPECT_TRUE(others.ends_within(short_nap_ns));
}

TEST(Company, IsNotCalledQuickBeforeAnythingEnded) {
    company others;
    others.begin_pause({1'000'000, 0, 3});
    EXPECT_FALSE(others.ends_within(short_nap_ns));
    others.begin_pause({2'000'000, 0, 3});
    EXPECT_FALSE(others.ends_within(short_nap_ns));
}

} // namespace
} // namespace commtask::detail
