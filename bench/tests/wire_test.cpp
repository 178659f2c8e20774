// SPDX-License-Identifier: Apache-2.0
//
// The wire without devices: when frames arrive, and that the ring gives back what was put in, however it wraps.
// What the wire does between real ranks is the test bench.delayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "delayed/frame_queue.h"
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

TEST(FrameQueue, RefusesOnlyWhenTheLargestFrameWouldNotFit) {
    frame_queue queue(100, 40);
    ASSERT_FALSE(queue.free_place().empty());
    queue.push(1, 40);
    ASSERT_FALSE(queue.free_place().empty());
    queue.push(2, 40);
    EXPECT_TRUE(queue.free_place().empty());
    queue.pop();
    queue.pop();
    EXPECT_FALSE(queue.free_place().empty());
}

TEST(FrameQueue, GivesBackEveryFrameInOrderHoweverItWraps) {
    std::mt19937 random(7);
    frame_queue queue(1000, 100);
    std::uint32_t n_in = 0;
    std::uint32_t n_out = 0;
    for (int step = 0; step < 100'000; ++step) {
        const std::span<std::byte> place = queue.free_place();
        if (random() % 2 == 0 && !place.empty()) {
            const std::size_t size = 4 + (random() % 97);
            std::memset(place.data(), static_cast<int>(n_in % 251), size);
            std::memcpy(place.data(), &n_in, sizeof n_in);
            queue.push(n_in++, size);
        } else if (!queue.is_empty()) {
            const std::span<const std::byte> bytes = queue.bytes_of(queue.front());
            std::uint32_t label = 0;
            std::memcpy(&label, bytes.data(), sizeof label);
            ASSERT_EQ(label, n_out);
            for (const std::byte one : bytes.subspan(4)) {
                ASSERT_EQ(static_cast<unsigned>(one), n_out % 251);
            }
            queue.pop();
            ++n_out;
        }
    }
    EXPECT_GT(n_out, 10'000U);
}

} // namespace
} // namespace commtask::bench
