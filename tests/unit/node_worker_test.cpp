// SPDX-License-Identifier: Apache-2.0
//
// Lanes and shared workers of a node that has bells, over a fake transport: when a worker sleeps in sight, what ends its sleep,
// and whom a lane rings. The other rank is the test's own thread, with its own view of the shared pages.
#include "core/node_news.hpp"
#include "core/waiting.hpp"
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "in_sight.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include <sched.h>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::fake_transport;
using testing::is_seen_asleep;
using testing::lane_bench;

/// While it lives, this thread and those that it starts have one core, and somebody computes there.
class one_busy_core {
public:
    one_busy_core() {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_getaffinity(0, sizeof before_, &before_);
        EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        computing_ = std::thread{[this] {
            while (!is_over_.load(std::memory_order_relaxed)) {}
        }};
    }
    one_busy_core(const one_busy_core&) = delete;
    one_busy_core& operator=(const one_busy_core&) = delete;
    ~one_busy_core() {
        is_over_ = true;
        computing_.join();
        sched_setaffinity(0, sizeof before_, &before_);
    }

private:
    cpu_set_t before_{};
    std::atomic<bool> is_over_{false};
    std::thread computing_;
};

/// Rank 1 of a communicator, at place 0 of its node; rank 0 is at place 1. What is posted are sends to rank 0 with tag 0.
class NodeWorker : public ::testing::Test {
protected:
    static constexpr std::uint32_t context = 4;

    void SetUp() override { use_peers(0); }

    void use_peers(std::int32_t neighbor_rank) { bench_.queue(0).node = peers_with(neighbor_rank); }
    [[nodiscard]] static std::unique_ptr<node_peers> peers_with(std::int32_t neighbor_rank) {
        auto peers = std::make_unique<node_peers>();
        peers->context = context;
        peers->me = 1;
        peers->are_all = true;
        peers->neighbors = {{neighbor_rank, 1}};
        return peers;
    }

    [[nodiscard]] worker_settings plan() {
        return {.is_reserved = false, .spin_ns = 1'000, .nap_max_ns = 10'000, .counters = &counters_};
    }
    [[nodiscard]] bool sleeps_in_sight() const { return testing::sleeps_in_sight(mine_); }

    void falls_asleep(const awaited_news& awaited) {
        const node_line theirs = neighbors_.my_line(0);
        theirs.begin();
        theirs.add(awaited);
        theirs.word() = bell::asleep_in_sight;
    }

    /// What its receiver says of the send that is in flight.
    static constexpr awaited_news receipt{context, news::receipt, 0, 0};

    alignas(4096) std::array<std::atomic<std::uint64_t>, 2 * node_bells::page_bytes / sizeof(std::uint64_t)> pages_{};
    node_bells mine_{pages_.data(), {0, 1}, 0, 1};
    node_bells neighbors_{pages_.data(), {0, 1}, 1, 1};
    lane_stats counters_;
    lane_bench bench_{lane_settings{.queue_capacity = 64, .posters_issue = true, .node = &mine_}};
};

TEST_F(NodeWorker, SleepsInSightUntilItsNeighbourRings) {
    task* sent = nullptr;
    {
        const worker beside{bench_.the_lane(), plan()};
        sent = &bench_.post();
        ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
        EXPECT_TRUE(mine_.my_line(0).awaits(receipt) || !sleeps_in_sight());
        // The message must be there before the bell: who lands it has the baton.
        ASSERT_TRUE(comes_true([&] { return bench_.the_lane().try_take_baton(); }));
        bench_.carrier().land(*sent);
        bench_.the_lane().return_baton();
        static_cast<void>(neighbors_.ring(0, receipt)); // it may be between two naps
        EXPECT_TRUE(comes_true([&] { return sent->life.state() == task_state::completed; }));
    }
    EXPECT_GT(counters_.worker_naps, 0U);
    EXPECT_LE(counters_.worker_rung, 1U);
    EXPECT_EQ(counters_.worker_rung_for_nothing, 0U);
}

TEST_F(NodeWorker, SleepsInSightForAWhileWithNothingInFlightAndThenDeeply) {
    constexpr int looks_of_one_sleep = 1'000;
    {
        const worker beside{bench_.the_lane(), plan()};
        ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); })) << "a poster finds it there";
        int n_deep = 0; // in a row: between two naps in sight it is awake
        ASSERT_TRUE(comes_true([&] {
            const bell& its = bench_.the_lane().wake_up;
            n_deep = its.approx_is_asleep() && !its.approx_is_in_sight() ? n_deep + 1 : 0;
            return n_deep == looks_of_one_sleep;
        }));
    }
    EXPECT_EQ(counters_.worker_naps, static_cast<std::uint64_t>(tuning::naps_before_deep_sleep));
    EXPECT_EQ(counters_.worker_sleeps, 2U) << "the one in sight, and the deep one";
}

TEST_F(NodeWorker, CountsTheBellsThatBroughtNothing) {
    task& sent = bench_.post();
    {
        const worker beside{bench_.the_lane(), plan()};
        for (unsigned n_woken = 0; n_woken < 2;) {
            ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
            n_woken += neighbors_.ring(0, receipt);
        }
        ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
    }
    EXPECT_GE(counters_.worker_rung, 1U) << "one may have come as it woke by itself";
    EXPECT_GE(counters_.worker_rung_for_nothing, 1U);
    EXPECT_LE(counters_.worker_rung_for_nothing, counters_.worker_rung);
    bench_.complete(sent);
}

TEST_F(NodeWorker, CountsABellForNothingAlsoIfALaterLookFindsAnEnd) {
    worker_settings seldom_in_sight = plan();
    seldom_in_sight.nap_max_ns = 50'000'000; // it naps for long before it sleeps in sight again
    task* sent = nullptr;
    {
        const worker beside{bench_.the_lane(), seldom_in_sight};
        ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
        sent = &bench_.post();
        ASSERT_TRUE(comes_true([&] { return neighbors_.ring(0, receipt) == 1; }));
        const std::uint64_t passes = bench_.the_lane().approx_passes();
        ASSERT_TRUE(comes_true([&] { return bench_.the_lane().approx_passes() > passes; })) << "it has looked";
        ASSERT_TRUE(comes_true([&] { return bench_.the_lane().wake_up.approx_is_asleep(); })) << "again";
        ASSERT_TRUE(comes_true([&] { return bench_.the_lane().try_take_baton(); }));
        bench_.carrier().land(*sent);
        bench_.the_lane().return_baton();
        EXPECT_TRUE(comes_true([&] { return sent->life.state() == task_state::completed; }));
    }
    EXPECT_GE(counters_.worker_rung, 1U);
    EXPECT_EQ(counters_.worker_rung_for_nothing, counters_.worker_rung);
}

TEST_F(NodeWorker, NapsAsWithoutBellsForWhatNobodyRings) {
    use_peers(2); // rank 0 is on another node
    task& sent = bench_.post();
    {
        const worker beside{bench_.the_lane(), plan()};
        EXPECT_FALSE(is_seen_asleep(mine_, bench_.the_lane(), 1000));
    }
    bench_.complete(sent);
}

TEST_F(NodeWorker, IsWokenByWhatItsOwnThreadsStart) {
    const worker beside{bench_.the_lane(), plan()};
    task& first = bench_.post();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
        task& next = bench_.post({.tag = fake_transport::completes_at_once});
        ASSERT_TRUE(comes_true([&] { return next.life.state() == task_state::completed; }));
    }
    ASSERT_TRUE(comes_true([&] { return bench_.the_lane().try_take_baton(); }));
    bench_.carrier().land(first);
    bench_.the_lane().return_baton();
    EXPECT_TRUE(comes_true([&] { return first.life.state() == task_state::completed; })) << "by the end of a nap";
}

TEST_F(NodeWorker, IsNotRungWhileAThreadOfItsProcessDrives) {
    task& sent = bench_.post();
    const worker beside{bench_.the_lane(), plan()};
    ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
    bool was_seen = false;
    unsigned n_woken = 0;
    ASSERT_TRUE(comes_true([&] {
        return drive_for_a_moment(bench_.the_lane(), 1, [&](bool) {
                   was_seen = sleeps_in_sight();
                   n_woken = neighbors_.ring(0, receipt);
                   return false;
               }) != drive_result::refused;
    }));
    EXPECT_FALSE(was_seen);
    EXPECT_EQ(n_woken, 0U);
    ASSERT_TRUE(comes_true([&] { return bench_.the_lane().try_take_baton(); }));
    bench_.carrier().land(sent);
    bench_.the_lane().return_baton();
    EXPECT_TRUE(comes_true([&] { return sent.life.state() == task_state::completed; }));
}

TEST_F(NodeWorker, ALaneRingsAtTheEndOfACollectiveAlone) {
    falls_asleep({context, news::turn, awaited_news::any, awaited_news::any});
    task& posted = bench_.make();
    posted.op.kind = COMMTASK_OP_BARRIER;
    bench_.the_lane().post(posted);
    bench_.run();
    EXPECT_TRUE(neighbors_.my_line(0).is_asleep());
    bench_.complete(posted);
    EXPECT_EQ(neighbors_.my_line(0).word(), 0U);
}

TEST_F(NodeWorker, ALaneRingsTheTargetOfAnAccessBeforeMpiHasIt) {
    falls_asleep(any_access);
    task& posted =
        bench_.make({.tag = fake_transport::is_refused}); // of what has begun and was refused nobody else is told
    posted.op.kind = COMMTASK_OP_PUT;
    posted.op.peer = 0;
    bench_.the_lane().post(posted);
    bench_.run();
    EXPECT_FALSE(neighbors_.my_line(0).is_asleep());
    falls_asleep(any_access);
    task& sent = bench_.post();
    bench_.run();
    EXPECT_TRUE(neighbors_.my_line(0).is_asleep()) << "a message is no access";
    bench_.complete(sent);
    task& of_call = bench_.make({.tag = fake_transport::is_refused});
    of_call.op.kind = COMMTASK_OP_PUT;
    of_call.op.peer = 0;
    of_call.op.reserved |= static_cast<int>(flag_is_call);
    bench_.the_lane().post(of_call);
    bench_.run();
    EXPECT_TRUE(neighbors_.my_line(0).is_asleep()) << "its rank is none of the queue's";
}

TEST_F(NodeWorker, NapsInSightWhileItAttendsWindows) {
    const one_busy_core here; // on an idle one it stays awake
    bench_.the_lane().attend(1);
    {
        const worker beside{bench_.the_lane(), plan()};
        for (unsigned n_woken = 0; n_woken < 2;) {
            ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
            n_woken += neighbors_.ring(0, any_access);
        }
        const std::uint64_t passes = bench_.the_lane().approx_passes();
        EXPECT_TRUE(comes_true([&] { return bench_.the_lane().approx_passes() > passes + 100; })) << "naps are short";
    }
    EXPECT_GE(counters_.worker_rung, 1U);
    EXPECT_EQ(counters_.worker_rung_for_nothing, 0U) << "what an access does no pass sees";
}

TEST_F(NodeWorker, IsNotWokenByPostersWhileItAttendsWindows) {
    use_peers(2); // rank 0 is on another node: nobody rings for what is posted
    const one_busy_core here;
    bench_.the_lane().attend(1);
    worker_settings with_long_naps = plan();
    with_long_naps.nap_max_ns = 50'000'000;
    const worker beside{bench_.the_lane(), with_long_naps};
    EXPECT_TRUE(comes_true([&] {
        if (!sleeps_in_sight()) return false;
        bench_.post({.tag = fake_transport::ends_at_a_look});
        return sleeps_in_sight(); // it may have woken by itself: then once more
    })) << "it looks by itself when its nap is over";
    ASSERT_TRUE(comes_true([&] { return bench_.the_lane().approx_live() == 0; }));
}

TEST_F(NodeWorker, StillAwaitsAccessesWhenAPosterHasShownItsTask) {
    const one_busy_core here;
    bench_.the_lane().attend(1);
    worker_settings with_long_naps = plan();
    with_long_naps.nap_max_ns = 200'000'000;
    const worker beside{bench_.the_lane(), with_long_naps};
    EXPECT_TRUE(comes_true([&] {
        if (!sleeps_in_sight()) return false;
        bench_.post({.tag = fake_transport::ends_at_a_look});
        return sleeps_in_sight() && mine_.my_line(0).awaits(any_access);
    }));
    ASSERT_TRUE(comes_true([&] { return bench_.the_lane().approx_live() == 0; }));
}

TEST_F(NodeWorker, ALaneRingsAtTheBeginningAndTheEndOfAMessage) {
    const node_line theirs = neighbors_.my_line(0);
    const awaited_news message{context, news::message, 1, 0};
    falls_asleep({context, news::message, 1, 99});
    task& sent = bench_.post();
    bench_.run();
    EXPECT_EQ(theirs.word(), bell::asleep_in_sight) << "it waits for another tag";
    falls_asleep(message);
    bench_.complete(sent);
    EXPECT_EQ(theirs.word(), 0U) << "the last step of a large message may be the sender's";
    falls_asleep(message);
    task& next = bench_.post();
    bench_.run();
    EXPECT_EQ(theirs.word(), 0U);
    EXPECT_EQ(bench_.the_lane().n_rung(), 2U);
    bench_.complete(next);
}

TEST_F(NodeWorker, WithoutBellsALaneDoesNothingForItsNode) {
    lane_bench off{lane_settings{.queue_capacity = 64, .posters_issue = true}};
    off.queue(0).node = peers_with(0); // who asks these goes on to the node's memory, of which there is none
    for (const std::uint16_t kind : std::initializer_list<std::uint16_t>{COMMTASK_OP_SEND, COMMTASK_OP_RECV,
                                                                         COMMTASK_OP_BARRIER, COMMTASK_OP_PUT}) {
        task& posted = off.make();
        posted.op.kind = kind;
        off.the_lane().post(posted);
        off.run();
        off.run(); // a look that ends nothing
        off.complete(posted);
        EXPECT_EQ(posted.life.state(), task_state::completed);
    }
    EXPECT_EQ(off.the_lane().n_rung(), 0U);
}

} // namespace
} // namespace commtask::detail
