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

TEST(Company, IsExpectedForSomePauses) {
    company others;
    EXPECT_FALSE(others.was_here_lately()) << "nobody was here yet";
    others.look(7);
    for (int i = 0; i < tuning::pauses_until_others_are_gone; ++i) {
        others.begin_pause();
        EXPECT_TRUE(others.was_here_lately()) << i;
        EXPECT_FALSE(others.was_here()) << i;
    }
    others.begin_pause();
    EXPECT_FALSE(others.was_here_lately());
}

constexpr std::int64_t nap_unit_ns = 200'000; // naps beside them are three of these, or more

/// Hops of `n_tasks` tasks each, which are begun at once.
struct hops {
    std::uint64_t n_tasks;
    std::uint64_t hop_ns;
    std::uint64_t in_flight_ns; ///< How long they take, if somebody looks.
};

/// A worker that naps for so long beside `done`. @param only_it_looks  so they end with a pass of its own
/// @return of how many of the last 100 naps it thought that tasks end soon
int brisk_naps(const hops& done, std::uint64_t nap_ns, bool only_it_looks = false) {
    company others;
    int n_brisk = 0;
    std::uint64_t n_ended = 0;
    for (std::uint64_t i = 1; i <= 200; ++i) {
        const std::uint64_t now_ns = i * nap_ns;
        const std::uint64_t n_begun = (now_ns / done.hop_ns + 1) * done.n_tasks;
        const bool are_over = now_ns % done.hop_ns >= done.in_flight_ns;
        const std::uint64_t n_over = n_begun - (are_over ? 0 : done.n_tasks);
        if (!only_it_looks) n_ended = n_over;
        others.end_nap(nap_ns, {n_ended, n_begun - n_ended});
        n_ended = n_over;
        if (i > 100 && others.is_brisk(nap_unit_ns)) ++n_brisk;
    }
    return n_brisk;
}

TEST(Company, EndsSoonWhereHopsAreShort) {
    // Naps of either length, which must not decide for themselves.
    for (const std::uint64_t nap_ns : {611'000U, 2'011'000U}) {
        EXPECT_EQ(brisk_naps({4, 60'000, 50'000}, nap_ns), 100) << nap_ns;
        EXPECT_EQ(brisk_naps({52, 60'000, 50'000}, nap_ns), 100) << nap_ns;
    }
}

TEST(Company, DoesNotEndSoonWhereHopsAreLong) {
    for (const std::uint64_t nap_ns : {611'000U, 2'011'000U}) {
        for (const std::uint64_t n_tasks : {1U, 4U, 16U, 52U, 400U}) {
            EXPECT_EQ(brisk_naps({n_tasks, 5'000'000, 4'000'000}, nap_ns), 0) << n_tasks << ", " << nap_ns;
        }
    }
    EXPECT_EQ(brisk_naps({16, 1'300'000, 1'200'000}, 611'000), 0);
}

TEST(Company, EndsSoonWhereHopsAreLongButMessagesAreNot) {
    EXPECT_EQ(brisk_naps({16, 5'000'000, 40'000}, 611'000), 100);
}

TEST(Company, DoesNotEndSoonWhereOnlyTheWorkerLooks) {
    // They would be over soon, but stand still until the nap is.
    EXPECT_EQ(brisk_naps({4, 5'000'000, 100'000}, 611'000, true), 0);
    EXPECT_EQ(brisk_naps({4, 5'000'000, 100'000}, 2'011'000, true), 0);
}

TEST(Company, ForgetsHowLongItSlept) {
    company others;
    others.end_nap(600'000, {40, 4});
    ASSERT_TRUE(others.is_brisk(nap_unit_ns));
    others.end_sleep(50);
    EXPECT_TRUE(others.is_brisk(nap_unit_ns));
    others.end_nap(600'000, {50, 60});
    EXPECT_FALSE(others.is_brisk(nap_unit_ns)) << "the ten that ended in the sleep do not count";
}

TEST(Company, IsNotCalledQuickBeforeAnythingEnded) {
    company others;
    EXPECT_FALSE(others.is_brisk(nap_unit_ns));
    others.end_nap(600'000, {0, 3});
    EXPECT_FALSE(others.is_brisk(nap_unit_ns));
}

TEST(Company, IsLeftAloneForAboutAsLongAsInAllNapsBefore) {
    company others;
    const auto naps_after = [&](unsigned n) { return others.naps_beside(nap_unit_ns, n); };
    EXPECT_EQ(naps_after(3), tuning::naps_when_others_drive) << "nothing has ended yet";
    others.end_nap(600'000, {40, 4});
    std::int64_t all_before = 0;
    for (unsigned n = 0; n < 40; ++n) {
        const std::int64_t next = naps_after(n);
        EXPECT_LE(next, std::max(tuning::naps_beside_brisk_others, all_before + tuning::naps_beside_brisk_others)) << n;
        EXPECT_LE(next, tuning::most_naps_beside_brisk_others) << n;
        all_before += next;
    }
    EXPECT_EQ(naps_after(40), tuning::most_naps_beside_brisk_others);
}

} // namespace
} // namespace commtask::detail
