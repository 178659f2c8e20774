// SPDX-License-Identifier: Apache-2.0
//
// The gate: who was inside when it was closed is waited for, who comes later stays outside, and nothing slips between the two. The last
// test is for TSan more than for its own count.
#include "base/use_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

using commtask::detail::use_count;

TEST(Gate, LetsNobodyInOnceItIsClosed) {
    use_count users;
    EXPECT_TRUE(users.try_acquire());
    users.release();
    EXPECT_TRUE(users.close()) << "nobody is inside";
    EXPECT_FALSE(users.try_acquire());
    EXPECT_TRUE(users.close()) << "who was refused is not inside";
}

TEST(Gate, IsLeftByAllWhoWereInsideWhenItWasClosed) {
    use_count users;
    EXPECT_TRUE(users.try_acquire());
    EXPECT_TRUE(users.try_acquire());
    EXPECT_FALSE(users.close());
    users.release();
    EXPECT_FALSE(users.close());
    EXPECT_FALSE(users.try_acquire());
    users.release();
    EXPECT_TRUE(users.close());
}

TEST(Gate, IsEmptyOfThreadsWhoeverClosesIt) {
    for (int round = 0; round < 200; ++round) {
        use_count users;
        bool is_gone = false; // not atomic: TSan sees who is inside too long
        std::atomic<int> n_seen_gone{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([&] {
                while (users.try_acquire()) {
                    if (is_gone) n_seen_gone.fetch_add(1);
                    users.release();
                }
            });
        }
        while (!users.close()) std::this_thread::yield();
        is_gone = true;
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(n_seen_gone.load(), 0);
    }
}
