// SPDX-License-Identifier: Apache-2.0
//
// The gate: who was inside when it was closed is waited for, who comes later stays outside, and nothing slips between the two. The last
// test is for TSan more than for its own count.
#include "base/gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

using commtask::detail::gate;

TEST(Gate, LetsNobodyInOnceItIsClosed) {
    gate door;
    EXPECT_TRUE(door.try_enter());
    door.leave();
    EXPECT_TRUE(door.close()) << "nobody is inside";
    EXPECT_FALSE(door.try_enter());
    EXPECT_TRUE(door.close()) << "who was refused is not inside";
}

TEST(Gate, IsLeftByAllWhoWereInsideWhenItWasClosed) {
    gate door;
    EXPECT_TRUE(door.try_enter());
    EXPECT_TRUE(door.try_enter());
    EXPECT_FALSE(door.close());
    door.leave();
    EXPECT_FALSE(door.close());
    EXPECT_FALSE(door.try_enter());
    door.leave();
    EXPECT_TRUE(door.close());
}

TEST(Gate, IsEmptyOfThreadsWhoeverClosesIt) {
    for (int round = 0; round < 200; ++round) {
        gate door;
        bool is_gone = false; // not atomic: TSan sees who is inside too long
        std::atomic<int> n_seen_gone{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([&] {
                while (door.try_enter()) {
                    if (is_gone) n_seen_gone.fetch_add(1);
                    door.leave();
                }
            });
        }
        while (!door.close()) std::this_thread::yield();
        is_gone = true;
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(n_seen_gone.load(), 0);
    }
}
