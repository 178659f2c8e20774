// SPDX-License-Identifier: Apache-2.0
//
// The ways into a lane, with real threads: nothing is lost, nothing comes twice, and what one thread posts stays in its
// order, over many laps of a small ring and with a taker that sleeps.
#include "core/mpsc_list.hpp"
#include "core/mpsc_ring.hpp"
#include "core/wakeup.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace commtask::detail {
namespace {

struct item {
    int submitter = 0;
    int number = 0;
    item* next_marked = nullptr;
};

class Inbox : public ::testing::TestWithParam<bool> {
protected:
    /// Whether the first submitter is favoured; without the barrier there is no such thing.
    static bool is_biased() { return GetParam() && register_heavy_barrier(); }
};

TEST_P(Inbox, KeepsEachPostersOrderOverManyLaps) {
    constexpr int n_posters = 3;
    constexpr int n_items = 20'000;
    mpsc_ring<item> box{64, is_biased()};
    std::array<std::vector<item>, n_posters> items;
    std::vector<std::thread> submitters;
    for (int submitter = 0; submitter < n_posters; ++submitter) {
        auto& mine = items[static_cast<std::size_t>(submitter)];
        for (int i = 0; i < n_items; ++i) mine.push_back({submitter, i});
        submitters.emplace_back([&box, &mine] {
            for (item& one : mine) box.put(&one);
        });
    }
    std::array<int, n_posters> next{};
    for (int taken = 0; taken < n_posters * n_items;) {
        item* const one = box.take();
        if (one == nullptr) {
            box.publish_free_cells();
            std::this_thread::yield();
            continue;
        }
        EXPECT_EQ(one->number, next[static_cast<std::size_t>(one->submitter)]++);
        ++taken;
    }
    for (std::thread& submitter : submitters) submitter.join();
    EXPECT_EQ(box.take(), nullptr);
    EXPECT_FALSE(box.has_more());
}

TEST_P(Inbox, RefusesATryWhenFullAndTakesItWhenThereIsRoom) {
    mpsc_ring<item> box{64, is_biased()};
    std::vector<item> items(65);
    for (std::size_t i = 0; i < 64; ++i) ASSERT_TRUE(box.try_put(&items[i]));
    EXPECT_FALSE(box.try_put(&items[64]));
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(box.take(), &items[i]);
    EXPECT_TRUE(box.try_put(&items[64]));
    EXPECT_EQ(box.take(), &items[64]);
}

TEST_P(Inbox, LosesNothingWhenASecondThreadEndsTheFavour) {
    for (int round = 0; round < 300; ++round) {
        mpsc_ring<item> box{64, is_biased()};
        std::array<std::array<item, 20>, 2> items{};
        std::atomic<int> n_ready{0};
        std::vector<std::thread> submitters;
        for (auto& mine : items) {
            submitters.emplace_back([&] {
                n_ready.fetch_add(1);
                while (n_ready.load() < 2) std::this_thread::yield();
                for (item& one : mine) box.put(&one);
            });
        }
        for (std::thread& submitter : submitters) submitter.join();
        std::array<std::size_t, 2> next{};
        for (int i = 0; i < 40; ++i) {
            const item* const one = box.take();
            ASSERT_NE(one, nullptr);
            const std::size_t whose = one >= items[1].data() && one < items[1].data() + items[1].size() ? 1 : 0;
            EXPECT_EQ(one, &items[whose][next[whose]++]);
        }
        EXPECT_EQ(box.take(), nullptr);
    }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutFavour, Inbox, ::testing::Bool());

TEST(Handoff, GivesEverythingBackInOrder) {
    mpsc_list<item, &item::next_marked> stack;
    std::vector<item> items(10);
    for (item& one : items) stack.push(&one);
    item* taken = stack.take_all();
    for (item& one : items) {
        ASSERT_EQ(taken, &one);
        taken = taken->next_marked;
    }
    EXPECT_EQ(taken, nullptr);
    EXPECT_TRUE(stack.is_empty());
}

TEST(Bell, LosesNoRingOverManySleeps) {
    const bool has_heavy_barrier = register_heavy_barrier();
    for (const bool uses_heavy_barrier : {has_heavy_barrier, false}) {
        wakeup wake_up{uses_heavy_barrier};
        mpsc_ring<item> box{64};
        constexpr int n_items = 5'000;
        std::vector<item> items(n_items);
        std::thread sleeper{[&] {
            for (int taken = 0; taken < n_items;) {
                if (box.take() != nullptr) {
                    ++taken;
                } else {
                    box.publish_free_cells();
                    wake_up.wait(worker_state::blocked, -1, [&] { return box.has_more(); }); // a lost ring hangs here
                }
            }
        }};
        for (item& one : items) {
            box.put(&one);
            wake_up.wake();
        }
        sleeper.join();
    }
}

TEST(WaitingRoom, LosesNoAnnouncement) {
    wait_queue room{register_heavy_barrier()};
    std::atomic<int> round{0};
    constexpr int n_rounds = 5'000;
    std::thread waiter{[&] {
        for (int i = 1; i <= n_rounds; ++i) {
            while (round.load() < i) {
                room.wait(-1, [&] { return round.load() >= i; }); // a lost announcement hangs here
            }
        }
    }};
    for (int i = 1; i <= n_rounds; ++i) {
        round.store(i);
        room.notify_all();
    }
    waiter.join();
}

} // namespace
} // namespace commtask::detail
