// SPDX-License-Identifier: Apache-2.0
//
// The book of places that are still to be used: whatever the order and the gaps, and however many threads try, each is good
// once. The orders are drawn at random, with the seed in the test.
#include "core/ticket_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace commtask::detail {
namespace {

const auto yes = [] { return true; };
const auto no = [] { return false; };

TEST(TicketBook, ATicketIsGoodOnce) {
    ticket_book book;
    std::atomic<std::uint64_t> next{1};
    EXPECT_EQ(book.try_use(1, yes), ticket_use::unknown) << "not taken yet";
    EXPECT_EQ(book.take(next), 1U);
    EXPECT_EQ(book.try_use(1, no), ticket_use::refused);
    EXPECT_EQ(book.try_use(1, yes), ticket_use::done);
    EXPECT_EQ(book.try_use(1, yes), ticket_use::unknown);
    EXPECT_EQ(book.try_use(0, yes), ticket_use::unknown);
    EXPECT_EQ(book.try_use(~std::uint64_t{0}, yes), ticket_use::unknown);
}

TEST(TicketBook, ANumberThatAPostTookIsNoTicket) {
    ticket_book book;
    std::atomic<std::uint64_t> next{1};
    EXPECT_EQ(book.take(next), 1U);
    next.fetch_add(1);
    EXPECT_EQ(book.take(next), 3U);
    EXPECT_EQ(book.try_use(2, yes), ticket_use::unknown);
    EXPECT_EQ(book.try_use(3, yes), ticket_use::done);
}

TEST(TicketBook, KeepsOpenTicketsOverAnyGapsAndOrders) {
    std::mt19937 random{17};
    ticket_book book;
    std::atomic<std::uint64_t> next{1};
    std::vector<std::uint64_t> open;
    std::vector<std::uint64_t> used;
    for (int i = 0; i < 20'000; ++i) {
        if (open.size() < 50 && random() % 2 == 0) {
            if (random() % 16 == 0) next.fetch_add(random() % 5000); // posts without a ticket
            open.push_back(book.take(next));
        } else if (!open.empty()) {
            std::swap(open[random() % open.size()], open.back());
            ASSERT_EQ(book.try_use(open.back(), yes), ticket_use::done) << "ticket " << open.back() << ", step " << i;
            used.push_back(open.back());
            open.pop_back();
        }
        if (!used.empty()) {
            const std::uint64_t again = used[random() % used.size()];
            ASSERT_EQ(book.try_use(again, yes), ticket_use::unknown) << "ticket " << again << ", step " << i;
        }
    }
    for (const std::uint64_t ticket : open) EXPECT_EQ(book.try_use(ticket, yes), ticket_use::done);
}

TEST(TicketBook, ThreadsThatUseTheSameTicketsUseEachOnce) {
    constexpr std::uint64_t n_tickets = 5000;
    ticket_book book;
    std::atomic<std::uint64_t> next{1};
    for (std::uint64_t i = 0; i < n_tickets; ++i) ASSERT_NE(book.take(next), 0U);
    std::atomic<std::uint64_t> n_used{0};
    {
        std::vector<std::jthread> threads;
        for (int which = 0; which < 3; ++which) {
            threads.emplace_back([&] {
                for (std::uint64_t ticket = 1; ticket <= n_tickets; ++ticket) {
                    if (book.try_use(ticket, yes) == ticket_use::done) n_used.fetch_add(1);
                }
            });
        }
    }
    EXPECT_EQ(n_used, n_tickets);
}

} // namespace
} // namespace commtask::detail
