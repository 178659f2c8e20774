// SPDX-License-Identifier: Apache-2.0
//
// Which sends are asked for right after their start: all as long as they end there, few when they do not, and each order of
// magnitude of the count by its own experience.
#include "mpi/early_ends.hpp"

#include "base/tuning.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace {

using commtask::detail::early_ends;
namespace tuning = commtask::detail::tuning;

/// How many of the next `n` sends would be asked for, if all end so.
int looks(early_ends& learned, std::int64_t count, int n, bool has_ended) {
    int n_polls = 0;
    for (int i = 0; i < n; ++i) {
        if (!learned.may_end_early(count)) continue;
        ++n_polls;
        learned.saw(count, has_ended);
    }
    return n_polls;
}

TEST(EarlyEnds, AllAreAskedForWhileTheyEndAtOnce) {
    early_ends learned;
    EXPECT_EQ(looks(learned, 8, 1000, true), 1000);
}

TEST(EarlyEnds, ThoseThatDoNotEndAtOnceAreAskedForRarely) {
    early_ends learned;
    looks(learned, 1 << 20, 1000, false);
    EXPECT_LE(looks(learned, 1 << 20, 1280, false), 10);
}

TEST(EarlyEnds, OneThatEndsBringsTheLooksBack) {
    early_ends learned;
    looks(learned, 8, 1000, false);
    EXPECT_GE(looks(learned, 8, 1000, true), 1000 - tuning::most_skipped_tests);
}

TEST(EarlyEnds, LongOnesSayNothingAboutShortOnes) {
    early_ends learned;
    looks(learned, 1 << 20, 1000, false);
    EXPECT_EQ(looks(learned, 8, 100, true), 100);
}

TEST(EarlyEnds, EveryCountHasItsPlace) {
    early_ends learned;
    for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
        EXPECT_EQ(looks(learned, count, 3, true), 3) << count;
    }
}

} // namespace
