// SPDX-License-Identifier: Apache-2.0
// What waits for what in a list of items: a dependence too few shows in a run as a wrong bit, if at all, and one too many as
// lost time only. Asked directly, of lists of a few items.
#include "common/items.hpp"

#include <gtest/gtest.h>

namespace {

using namespace miniapp;

constexpr item_list::name box{0, 0, 0};
constexpr item_list::name other{0, 0, 1};

std::vector<int> after(const item_list& list, int id) { return list.items().at(static_cast<std::size_t>(id)).after; }

TEST(Items, WaitForWhoWroteWhatTheyReadAndForWhoReadWhatTheyWrite) {
    item_list list;
    list.writes(list.add(part::core, [] {}), box);
    list.end_stage();
    list.reads(list.add(part::core, [] {}), box);
    list.reads(list.add(part::core, [] {}), other);
    list.end_stage();
    list.writes(list.add(part::core, [] {}), box);
    list.end(false);
    EXPECT_EQ(after(list, 1), std::vector{0});
    EXPECT_EQ(after(list, 2), std::vector<int>{});
    EXPECT_EQ(after(list, 3), std::vector{1});
}

TEST(Items, OfOneStageThatWriteAThingDoNotWaitForEachOther) {
    item_list list;
    list.writes(list.add(part::core, [] {}), box);
    list.end_stage();
    for (int k = 0; k < 2; ++k) list.writes(list.add(part::core, [] {}), box);
    list.end_stage();
    list.reads(list.add(part::core, [] {}), box);
    list.end_stage();
    list.end(false);
    EXPECT_EQ(after(list, 1), std::vector{0});
    EXPECT_EQ(after(list, 2), std::vector{0});
    EXPECT_EQ(after(list, 3), (std::vector{1, 2}));
}

TEST(Items, AreSortedByTheirPartsAndKeepWhatTheyWaitFor) {
    item_list list;
    const int late = list.add(part::shell, [] {});
    const int early = list.add(part::prepare, [] {});
    list.wait_for(late, {early});
    list.end_stage();
    list.end(false);
    EXPECT_EQ(list.items()[0].when, part::prepare);
    EXPECT_EQ(after(list, 1), std::vector{0});
    EXPECT_EQ(list.of(0, part::shell).front().id, 1);
    EXPECT_TRUE(list.of(0, part::core).empty());
}

TEST(Items, WithANumberInCommonAreOne) {
    item_list list;
    int n_done = 0;
    for (int k = 0; k < 3; ++k) list.add(part::core, [&] { ++n_done; }, k / 2);
    list.end_stage();
    list.add(part::core, [] {}, 0);
    list.end_stage();
    list.end(false);
    ASSERT_EQ(list.items().size(), 3U);
    list.items().front().work(0);
    EXPECT_EQ(n_done, 2);
}

TEST(Items, OfARoundWaitForThoseOfTheRoundBefore) {
    item_list list;
    // Two names taken in turns, as halos are: each step reads what the step before has written.
    for (int step = 0; step < 4; ++step) {
        const int id = list.add(part::core, [] {});
        list.reads(id, step % 2 == 0 ? box : other);
        list.writes(id, step % 2 == 0 ? other : box);
        list.end_stage();
    }
    list.end(true);
    EXPECT_EQ(list.n_stages(), 2);
    ASSERT_EQ(list.items().size(), 2U);
    EXPECT_EQ(list.items()[0].before, std::vector{1}); // comes behind it in the list
    EXPECT_EQ(after(list, 0), std::vector<int>{});
    EXPECT_EQ(after(list, 1), std::vector{0});
    EXPECT_EQ(list.items()[1].before, std::vector<int>{});
}

} // namespace
