// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the emulated links: when a message arrives, and when a context injects the next one. What the links do between
// real ranks is asked by the tests bench.link.
#include <gtest/gtest.h>

#include "delayed/link_model.h"

namespace commtask::bench {
namespace {

TEST(LinkModel, AddsTransferTimeAndDelay) {
    link_model link(10'000, 100); // 100 MB/s: 10 ns a byte
    EXPECT_EQ(link.arrival_ns(0, 1000), 10'000 + 10'000);
}

TEST(LinkModel, QueuesAFrameBehindTheOneBeforeIt) {
    link_model link(5'000, 1000); // 1 ns a byte
    EXPECT_EQ(link.arrival_ns(0, 1000), 6'000);
    EXPECT_EQ(link.arrival_ns(100, 1000), 7'000);
}

TEST(LinkModel, IsFreeAgainAfterAPause) {
    link_model link(5'000, 1000);
    EXPECT_EQ(link.arrival_ns(0, 1000), 6'000);
    EXPECT_EQ(link.arrival_ns(50'000, 1000), 56'000);
}

TEST(ContextGaps, LetOneContextSendOnceAGapAndAnotherBesideIt) {
    context_gaps gaps(1'000);
    EXPECT_EQ(gaps.leaves_ns(1, 500), 500);
    EXPECT_EQ(gaps.leaves_ns(1, 510), 1'500);
    EXPECT_EQ(gaps.leaves_ns(2, 520), 520) << "another context";
    EXPECT_EQ(gaps.leaves_ns(1, 9'000), 9'000) << "free again after a pause";
    EXPECT_EQ(gaps.leaves_ns(2, 9'000, 4), 12'000) << "several messages of one call";
    EXPECT_EQ(gaps.leaves_ns(2, 9'000), 13'000);
}

TEST(ContextGaps, AreNothingOfZero) {
    context_gaps gaps(0);
    EXPECT_EQ(gaps.leaves_ns(1, 500), 500);
    EXPECT_EQ(gaps.leaves_ns(1, 500), 500);
}

} // namespace
} // namespace commtask::bench
