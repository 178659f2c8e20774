// SPDX-License-Identifier: Apache-2.0
//
// A post beside a worker that sleeps in sight of its node: the poster puts what it starts into the line, looks once, and wakes the
// worker only for what nobody rings. The worker is the test's own thread, which posts between falling asleep and sleeping, so that
// nothing depends on time.
#include "core/lane.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace commtask::detail {
namespace {

using testing::fake_transport;
using testing::lane_bench;

/// Rank 1 of a communicator, at place 0 of its node; rank 0 is at place 1, rank 2 on another node. What is posted are sends to rank 0.
class NodePosting : public ::testing::Test {
protected:
    static constexpr awaited_news receipt{4, news::receipt, 0, 0};
    static constexpr std::int64_t no_time_ns = 1'000;

    void SetUp() override {
        auto peers = std::make_unique<node_peers>();
        *peers = {.context = 4, .me = 1, .are_all = false, .neighbors = {{0, 1}}};
        bench_.queue(0).node = std::move(peers);
    }

    /// Lets the worker fall asleep with nothing in flight, and `act()` while it does. @return whether that woke it
    template <typename Act>
    [[nodiscard]] bool is_woken_by(Act&& act) {
        lane& mine = bench_.the_lane();
        static_cast<void>(mine.show_awaited());
        const bell::woken how = mine.wake_up.sleep_in_sight(mine.word_in_sight(), no_time_ns, [&] {
            act();
            return false;
        });
        return how != bell::woken::by_nobody;
    }
    [[nodiscard]] bool is_in_line(const awaited_news& news) const { return neighbors_.line(0, 0).awaits(news); }

    task& post(int tag = 0) {
        task& made = bench_.make({.tag = tag});
        bench_.the_lane().post(made);
        return made;
    }

    task& post_barrier() {
        task& made = bench_.make();
        made.op.kind = COMMTASK_OP_BARRIER;
        bench_.the_lane().post(made);
        return made;
    }

    /// As often as posts show a hidden worker in one of its naps, and so that the next one does not.
    void post_and_wait_often() {
        for (int i = 0; i < tuning::shows_beside_drivers; ++i) {
            bench_.the_lane().hide_from_neighbors();
            bench_.complete(post());
        }
        bench_.the_lane().hide_from_neighbors();
    }

    alignas(4096) std::array<std::atomic<std::uint64_t>, 2 * node_bells::page_bytes / sizeof(std::uint64_t)> pages_{};
    node_bells mine_{pages_.data(), {0, 1}, 0, 1};
    node_bells neighbors_{pages_.data(), {0, 1}, 1, 1};
    lane_bench bench_{lane_settings{.queue_capacity = 64, .posters_issue = true, .node = &mine_}};
};

TEST_F(NodePosting, TheWorkerSleepsOnAndCanBeRungForIt) {
    task* sent = nullptr;
    EXPECT_FALSE(is_woken_by([&] {
        sent = &post();
        EXPECT_TRUE(is_in_line(receipt));
    }));
    EXPECT_EQ(bench_.carrier().take_started().size(), 1U);
    EXPECT_TRUE(bench_.the_lane().approx_has_work()) << "for who wakes by time";
    bench_.complete(*sent);
}

TEST_F(NodePosting, TheWorkerIsWokenForWhatNobodyRings) {
    task* sent = nullptr;
    EXPECT_TRUE(is_woken_by([&] {
        sent = &bench_.make();
        sent->op.peer = 2;
        bench_.the_lane().post(*sent);
    }));
    bench_.complete(*sent);
}

TEST_F(NodePosting, TheWorkerIsWokenForACollectiveWhoseStepsNobodyRings) {
    task* posted = nullptr;
    EXPECT_TRUE(is_woken_by([&] { posted = &post_barrier(); }));
    bench_.complete(*posted);
}

TEST_F(NodePosting, WhatCameBeforeTheLineIsLeftToTheWorker) {
    task* sent = nullptr;
    bool was_called = false;
    EXPECT_TRUE(is_woken_by([&] {
        sent = &bench_.make(
            {.tag = fake_transport::ends_at_a_look,
             .callback = [](const commtask_status* /*status*/, void* it) { *static_cast<bool*>(it) = true; },
             .argument = &was_called});
        bench_.the_lane().post(*sent);
    }));
    EXPECT_FALSE(was_called) << "it is not the poster's to call";
    bench_.run();
    EXPECT_TRUE(was_called);
    EXPECT_EQ(sent->life.state(), task_state::completed);
}

TEST_F(NodePosting, WhatCameBeforeTheLineWithoutACallbackEndsAtThePost) {
    EXPECT_FALSE(is_woken_by([&] {
        const task& sent = post(fake_transport::ends_at_a_look);
        EXPECT_EQ(sent.life.state(), task_state::completed);
    }));
    EXPECT_FALSE(bench_.the_lane().approx_has_work());
}

TEST_F(NodePosting, AWorkerThatAWaitingThreadHasHiddenIsShownAgain) {
    task* sent = nullptr;
    EXPECT_FALSE(is_woken_by([&] {
        bench_.the_lane().hide_from_neighbors();
        EXPECT_FALSE(is_in_line(receipt));
        sent = &post();
        EXPECT_TRUE(is_in_line(receipt));
    }));
    bench_.complete(*sent);
}

TEST_F(NodePosting, WhoPostsAndWaitsAgainAndAgainPaysForFewLooks) {
    EXPECT_FALSE(is_woken_by([&] {
        for (int i = 0; i < 2 * tuning::shows_beside_drivers; ++i) {
            bench_.the_lane().hide_from_neighbors(); // as who waits does
            task& sent = post();
            EXPECT_EQ(is_in_line(receipt), i < tuning::shows_beside_drivers) << i;
            bench_.complete(sent);
        }
    }));
}

TEST_F(NodePosting, AfterThoseTheWorkerIsWokenForACollective) {
    task* posted = nullptr;
    EXPECT_TRUE(is_woken_by([&] {
        post_and_wait_often();
        posted = &post_barrier();
    }));
    bench_.complete(*posted);
}

TEST_F(NodePosting, AfterThoseTheWorkerIsWokenForALargeMessageWhichBothSidesMoveOn) {
    task* sent = nullptr;
    bench_.carrier().sizes.sent_bytes = tuning::woken_for_bytes;
    EXPECT_FALSE(is_woken_by([&] {
        post_and_wait_often();
        bench_.complete(post());
    }));
    bench_.carrier().sizes.sent_bytes = tuning::woken_for_bytes + 1;
    EXPECT_TRUE(is_woken_by([&] {
        post_and_wait_often();
        sent = &post();
    }));
    bench_.complete(*sent);
}

TEST_F(NodePosting, AfterThoseTheWorkerIsWokenForAMessageAtWhoseEndSomethingIsCalled) {
    task* sent = nullptr;
    EXPECT_TRUE(is_woken_by([&] {
        post_and_wait_often();
        sent = &bench_.make({.callback = [](const commtask_status* /*status*/, void* /*argument*/) {}});
        bench_.the_lane().post(*sent);
    }));
    bench_.complete(*sent);
}

TEST_F(NodePosting, WhatIsOverLeavesTheLine) {
    EXPECT_FALSE(is_woken_by([&] {
        bench_.complete(post());
        task& next = post(5);
        EXPECT_FALSE(is_in_line(receipt));
        EXPECT_TRUE(is_in_line({4, news::receipt, 0, 5}));
        bench_.complete(next);
    }));
}

TEST_F(NodePosting, AnAwakeWorkerLooksItself) {
    lane& mine = bench_.the_lane();
    static_cast<void>(mine.show_awaited());
    task& sent = post();
    EXPECT_FALSE(is_in_line(receipt));
    bench_.complete(sent);
}

} // namespace
} // namespace commtask::detail
