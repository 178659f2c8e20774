// SPDX-License-Identifier: Apache-2.0
//
// Messages of other nodes: what is announced, what a full queue makes of it, what the watcher rings, and every order in which one
// falls asleep, another sends, the watcher looks and wakes. The network is the test: a carrier that takes what the test lets it.
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "in_sight.hpp"
#include "patience.hpp"
#include "report/stats_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::is_seen_asleep;
using testing::lane_bench;

constexpr std::int64_t limit_bytes = 1000;

class fake_carrier final : public notice_carrier {
public:
    [[nodiscard]] bool try_send(std::int32_t watcher, std::span<const notice> batch) noexcept override {
        if (room == 0) return false;
        --room;
        for (const notice& each : batch) sent.emplace_back(watcher, each);
        return true;
    }
    int room = 1 << 20;
    std::vector<std::pair<std::int32_t, notice>> sent;
};

TEST(NoticeQueue, SendsABatchToEachWatcherInOrder) {
    notice_queue queue;
    fake_carrier carrier;
    for (std::int32_t tag = 0; tag < 6; ++tag) queue.add(tag % 2, {.place = 3, .tag = tag});
    EXPECT_EQ(queue.flush(carrier), 2U);
    ASSERT_EQ(carrier.sent.size(), 6U);
    const std::array<std::int32_t, 6> order{0, 2, 4, 1, 3, 5};
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(carrier.sent[i].second.tag, order[i]);
    EXPECT_TRUE(queue.is_empty());
}

TEST(NoticeQueue, PutsTogetherWhatAFullOneHasNoRoomForAndCountsWhatIsLost) {
    notice_queue queue;
    fake_carrier carrier;
    carrier.room = 0;
    constexpr std::uint32_t n_places = 4;
    constexpr std::size_t n_told = 3 * notice_queue::capacity;
    for (std::size_t i = 0; i < n_told; ++i) queue.add(0, {.place = static_cast<std::uint32_t>(i) % n_places});
    EXPECT_EQ(queue.flush(carrier), 0U);
    EXPECT_EQ(queue.n_lost(), 0U);
    queue.add(0, {.place = n_places});
    EXPECT_EQ(queue.n_lost(), 1U) << "of a rank of which none is in the queue";
    carrier.room = 1000;
    EXPECT_GT(queue.flush(carrier), 0U);
    std::array<std::uint32_t, n_places> n_messages{};
    for (const auto& [watcher, told] : carrier.sent) n_messages[told.place] += told.n_messages;
    for (const std::uint32_t n : n_messages) EXPECT_EQ(n, n_told / n_places) << "put together, and none forgotten";
}

TEST(NoticeQueue, GoesOnWhereACarrierHadNoRoom) {
    notice_queue queue;
    fake_carrier carrier;
    for (std::size_t i = 0; i < 3 * notice_queue::most_in_batch; ++i) queue.add(0, {});
    carrier.room = 2;
    EXPECT_EQ(queue.flush(carrier), 2U);
    EXPECT_EQ(carrier.sent.size(), 2 * notice_queue::most_in_batch);
    EXPECT_FALSE(queue.is_empty());
    carrier.room = 1;
    EXPECT_EQ(queue.flush(carrier), 1U);
    EXPECT_TRUE(queue.is_empty());
}

/// A node of two: place 0 is the lane's, place 1 the watcher's. Rank 0 of the communicator is the lane's own, rank 1 the watcher,
/// ranks 2 and 3 on another node, whose watcher is rank 5 of the world, and places 7 and 8 there.
class NodeNotices : public ::testing::Test {
protected:
    static constexpr std::uint32_t context = 6;

    void SetUp() override {
        auto peers = std::make_unique<node_peers>();
        peers->context = context;
        peers->me = 0;
        peers->neighbors = {{1, 1}};
        peers->far_ranks = {-1, -1, 2, 3};
        bench_.queue(0).node = std::move(peers);
        bench_.carrier().carrier_of_notices = &carrier_;
        bench_.carrier().sizes = {.sent_bytes = 2 * limit_bytes, .room_bytes = 2 * limit_bytes};
    }

    task& post(int kind, int peer) {
        task& made = bench_.make();
        made.op.kind = static_cast<std::uint16_t>(kind);
        made.op.peer = kind == COMMTASK_OP_SEND ? peer : 0;
        made.op.source = peer;
        bench_.the_lane().post(made);
        bench_.run();
        return made;
    }
    /// As rank 2 announces what the receive awaits.
    static constexpr notice from_far{.place = 0, .context = context, .source = 2, .tag = 1};

    /// Beside a worker, which touches the same with the baton in hand.
    template <typename Act>
    void with_baton(Act&& act) {
        ASSERT_TRUE(
            bench_.the_lane().try_take_baton_as_guest(now_ns() + testing::patience_ns)); // a reserved one keeps it
        act();
        bench_.the_lane().return_baton();
    }
    void land(task& received, std::int64_t n_bytes) {
        with_baton([&] { bench_.carrier().land(received, {.source = received.op.source, .bytes = n_bytes}); });
    }

    [[nodiscard]] bool sleeps_in_sight() const { return testing::sleeps_in_sight(mine_); }
    [[nodiscard]] int announced() const { return mine_.announced_to_me(); }

    alignas(4096) std::array<std::atomic<std::uint64_t>, 2 * node_bells::page_bytes / sizeof(std::uint64_t)> pages_{};
    node_bells mine_{pages_.data(), {0, 1}, 0, 1, 1};
    node_bells watchers_{pages_.data(), {0, 1}, 1, 1, 1};
    announcing announcing_{limit_bytes, {{1, 0}, {1, 1}, {5, 7}, {5, 8}}};
    fake_carrier carrier_;
    lane_stats counters_;
    lane_bench bench_{
        lane_settings{.queue_capacity = 64, .posters_issue = true, .node = &mine_, .announced = &announcing_}};

    [[nodiscard]] worker_settings plan() {
        return {.is_reserved = false, .spin_ns = 1'000, .nap_max_ns = 10'000, .counters = &counters_};
    }
};

TEST_F(NodeNotices, LargeMessagesToOtherNodesAreAnnouncedAndNoOthers) {
    task& large = post(COMMTASK_OP_SEND, 2);
    ASSERT_EQ(carrier_.sent.size(), 1U);
    EXPECT_EQ(carrier_.sent[0].first, 5);
    EXPECT_EQ(carrier_.sent[0].second.place, 7U);
    EXPECT_EQ(carrier_.sent[0].second.context, context);
    EXPECT_EQ(carrier_.sent[0].second.source, 0);
    bench_.complete(large);
    bench_.complete(post(COMMTASK_OP_SEND, 1));
    bench_.complete(post(COMMTASK_OP_RECV, 2));
    bench_.carrier().sizes.sent_bytes = limit_bytes;
    bench_.complete(post(COMMTASK_OP_SEND, 2));
    EXPECT_EQ(carrier_.sent.size(), 1U) << "to a neighbour, received, small";
}

/// Ranks 1 to 3, of which the last two are on the other node.
constexpr std::array far_and_near{1, 2, 3};

TEST_F(NodeNotices, AMulticastIsAnnouncedToEachRankOfAnotherNode) {
    task& sent = bench_.make();
    sent.op.kind = COMMTASK_OP_MULTICAST;
    sent.op.dests = far_and_near.data();
    sent.op.peer = 3;
    bench_.the_lane().post(sent);
    bench_.run();
    ASSERT_EQ(carrier_.sent.size(), 2U);
    EXPECT_EQ(carrier_.sent[0].second.place, 7U);
    EXPECT_EQ(carrier_.sent[1].second.place, 8U);
    bench_.complete(sent);
}

TEST_F(NodeNotices, OfManyMessagesEachOfAnotherNodeIsAnnouncedAndCounted) {
    task& exchange = bench_.make();
    exchange.op.kind = COMMTASK_OP_MANY_TO_MANY;
    exchange.op.dests = exchange.op.sources = far_and_near.data();
    exchange.op.peer = exchange.op.source = 3;
    bench_.the_lane().post(exchange);
    bench_.run();
    EXPECT_EQ(carrier_.sent.size(), 2U);
    for (int i = 0; i < 2; ++i) static_cast<void>(ring_for_notice({.place = 0}, watchers_));
    bench_.complete(exchange, {.bytes = 6 * limit_bytes});
    EXPECT_EQ(announced(), 0);
}

TEST_F(NodeNotices, WhatWasNotAnnouncedIsNotCounted) {
    const task_result large{.source = 2, .bytes = 2 * limit_bytes};
    bench_.complete(post(COMMTASK_OP_MPROBE, 2), large); // its receive is counted
    bench_.complete(post(COMMTASK_OP_START, 2), large);  // perhaps a send, whose status MPI has left as it was
    bench_.complete(post(COMMTASK_OP_SEND, 2), large);
    bench_.complete(post(COMMTASK_OP_RECV, 2), {.source = 2, .bytes = limit_bytes});
    EXPECT_EQ(announced(), 0);
}

TEST_F(NodeNotices, WhatIsLostStandsInTheTableOfTheStatistics) {
    carrier_.room = 0;
    for (std::size_t i = 0; i < notice_queue::capacity; ++i) bench_.complete(post(COMMTASK_OP_SEND, 2));
    for (int i = 0; i < 3; ++i) bench_.complete(post(COMMTASK_OP_SEND, 3));
    std::array<lane_stats, 2> lanes;
    bench_.the_lane().count_into(lanes[1]);
    EXPECT_THAT(format_stats(lanes, std::array{0, 1}, 2, {}),
                ::testing::HasSubstr("  3 notices of messages to other nodes were lost"));
}

TEST_F(NodeNotices, WhatFoundNoRoomIsSentLaterThoughNothingIsInFlight) {
    const lane& mine = bench_.the_lane();
    for (const bool is_reserved : {false, true}) {
        carrier_.sent.clear();
        carrier_.room = 0;
        bench_.complete(post(COMMTASK_OP_SEND, 2));
        EXPECT_TRUE(mine.has_work());
        worker_settings its = plan();
        its.is_reserved = is_reserved;
        const worker beside{bench_.the_lane(), its};
        with_baton([&] { carrier_.room = 1; });
        EXPECT_TRUE(comes_true([&] { return !mine.approx_has_work(); })) << "it has nothing left to do";
        with_baton([&] { EXPECT_EQ(carrier_.sent.size(), 1U); });
    }
}

TEST_F(NodeNotices, AWorkerWithNoticesToSendDoesNotSleepInSight) {
    carrier_.room = 0;
    bench_.complete(post(COMMTASK_OP_SEND, 2));
    task& of_a_neighbor = post(COMMTASK_OP_RECV, 1);
    {
        const worker beside{bench_.the_lane(), plan()};
        EXPECT_FALSE(is_seen_asleep(mine_, bench_.the_lane(), 200));
        with_baton([&] { carrier_.room = 1; });
        EXPECT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
    }
    bench_.complete(of_a_neighbor);
}

TEST_F(NodeNotices, WhatNoWatcherTakesKeepsNoRankFromItsEnd) {
    carrier_.room = 0;
    bench_.complete(post(COMMTASK_OP_SEND, 2));
    bench_.the_lane().watch_drain();
    bench_.run();
    EXPECT_TRUE(bench_.the_lane().has_work());
    EXPECT_TRUE(bench_.the_lane().was_quiet());
}

TEST_F(NodeNotices, AReceiverSleepsUntilTheWatcherRingsAndNapsWhileItIsUnderWay) {
    task& received = post(COMMTASK_OP_RECV, 2);
    {
        const worker beside{bench_.the_lane(), plan()};
        ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); }));
        EXPECT_TRUE(comes_true([&] { return mine_.n_sleepers() == 1 || !sleeps_in_sight(); }));
        static_cast<void>(ring_for_notice(from_far, watchers_));
        ASSERT_TRUE(comes_true([&] { return !sleeps_in_sight(); }));
        EXPECT_EQ(announced(), 1);
        EXPECT_FALSE(is_seen_asleep(mine_, bench_.the_lane(), 200)) << "nobody rings for its pieces";
        land(received, 2 * limit_bytes);
        EXPECT_TRUE(comes_true([&] { return received.life.state() == task_state::completed; }));
    }
    EXPECT_EQ(announced(), 0);
    EXPECT_EQ(mine_.n_sleepers(), 0);
}

TEST_F(NodeNotices, WhatWasAnnouncedBeforeItsReceiveIsUnderWayAtOnce) {
    EXPECT_EQ(ring_for_notice(from_far, watchers_), 0U);
    task& received = post(COMMTASK_OP_RECV, 2);
    {
        const worker beside{bench_.the_lane(), plan()};
        EXPECT_FALSE(is_seen_asleep(mine_, bench_.the_lane(), 200));
    }
    bench_.complete(received, {.source = 2, .bytes = 2 * limit_bytes});
    EXPECT_EQ(announced(), 0);
}

TEST_F(NodeNotices, WhatNobodyAnnouncesIsNappedFor) {
    bench_.carrier().sizes.room_bytes = limit_bytes; // only a small message fits
    task& received = post(COMMTASK_OP_RECV, 2);
    {
        const worker beside{bench_.the_lane(), plan()};
        EXPECT_FALSE(is_seen_asleep(mine_, bench_.the_lane(), 200));
    }
    bench_.complete(received, {.source = 2, .bytes = limit_bytes});
    EXPECT_EQ(announced(), 0) << "it was small";
}

TEST_F(NodeNotices, TheWatcherSleepsUntilSomebodyNeedsIt) {
    for (const bool is_reserved : {false, true}) {
        lane_bench watching{lane_settings{.queue_capacity = 64, .posters_issue = !is_reserved, .node = &watchers_}};
        lane& its = watching.the_lane();
        ASSERT_TRUE(its.is_watcher());
        EXPECT_FALSE(its.is_attentive());
        worker_settings how = plan();
        how.is_reserved = is_reserved;
        const worker beside{its, how};
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(comes_true([&] { return watchers_.my_line(0).is_asleep(); }));
            const int before = watching.carrier().n_progress;
            static_cast<void>(mine_.ask_watcher());
            EXPECT_TRUE(comes_true([&] { return watching.carrier().n_progress > before + 10; })) << "it looks";
            mine_.release_watcher();
        }
        ASSERT_TRUE(comes_true([&] { return watchers_.my_line(0).is_asleep(); }));
    }
}

/// Of a node whose rank 0 is another process.
TEST(Watcher, SleepsAgainWhenARankWasKilledThatSleptUntilItHears) {
    for (const bool is_reserved : {false, true}) {
        void* const pages =
            mmap(nullptr, node_bells::bytes_for(2), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(pages, MAP_FAILED);
        const pid_t sleeper = fork();
        if (sleeper == 0) {
            static_cast<void>(node_bells{pages, {0, 1}, 0, 1, 1}.ask_watcher());
            for (;;) pause();
        }
        const node_bells watchers{pages, {0, 1}, 1, 1, 1, {sleeper, 0}};
        lane_bench watching{lane_settings{.queue_capacity = 64, .posters_issue = !is_reserved, .node = &watchers}};
        {
            const worker beside{watching.the_lane(),
                                {.is_reserved = is_reserved, .spin_ns = 1'000, .nap_max_ns = 10'000}};
            EXPECT_TRUE(comes_true([&] { return watching.carrier().n_progress > 10; })) << "it looks";
            EXPECT_EQ(watchers.n_sleepers(), 1);
            kill(sleeper, SIGKILL); // the system keeps it until somebody asks
            EXPECT_TRUE(comes_true([&] { return watchers.my_line(0).is_asleep(); }));
        }
        EXPECT_EQ(watchers.n_sleepers(), 0);
        EXPECT_EQ(waitpid(sleeper, nullptr, 0), sleeper);
        munmap(pages, node_bells::bytes_for(2));
    }
}

TEST_F(NodeNotices, TheWatcherIsWokenFromASleepInSightOfWhatItAwaitsItself) {
    lane_bench watching{lane_settings{.queue_capacity = 64, .posters_issue = true, .node = &watchers_}};
    auto peers = std::make_unique<node_peers>();
    *peers = {.context = context, .me = 1, .are_all = true, .neighbors = {{0, 0}}};
    watching.queue(0).node = std::move(peers);
    task& sent = watching.post({.tag = 1}); // to rank 0
    {
        const worker beside{watching.the_lane(), plan()};
        bool was_rung = false;
        EXPECT_TRUE(comes_true([&] {
            if (!watchers_.my_line(0).is_asleep()) return was_rung;
            was_rung = mine_.ask_watcher() == 1; // not if it has woken up meanwhile
            mine_.release_watcher();
            return was_rung;
        }));
    }
    watching.complete(sent);
}

TEST_F(NodeNotices, AReceiverOfWhoseMessageNobodyToldNapsAndAsksTheWatcher) {
    task& first = post(COMMTASK_OP_RECV, 2);
    const worker beside{bench_.the_lane(), plan()};
    ASSERT_TRUE(comes_true([&] { return sleeps_in_sight(); })) << "until it knows";
    land(first, 2 * limit_bytes); // nobody rings
    ASSERT_TRUE(comes_true([&] { return first.life.state() == task_state::completed; }));
    const node_line watchers = watchers_.my_line(0);
    watchers.begin();
    watchers.add({0, news::sleeper});
    watchers.word() = bell::asleep_in_sight; // with the notice unread
    task& second = bench_.make();
    second.op = first.op;
    bench_.the_lane().post(second);
    EXPECT_FALSE(is_seen_asleep(mine_, bench_.the_lane(), 200));
    EXPECT_TRUE(comes_true([&] { return watchers.word() != bell::asleep_in_sight; })) << "nobody wakes the watcher";
    land(second, 2 * limit_bytes);
    EXPECT_TRUE(comes_true([&] { return second.life.state() == task_state::completed; }));
}

/// Where a step of the others falls among those of the one who falls asleep.
enum place : int { before_it_shows, before_it_sleeps, before_it_looks, after_its_look, n_places };

/// The message may come before its notice or after. What must never be: asleep for long with both there, or with the notice there,
/// since who sleeps then is not rung for what comes after.
TEST_F(NodeNotices, NoOrderOfSleepSendLookAndWakeLosesAMessage) {
    const node_line line = mine_.my_line(0);
    for (int message_at = 0; message_at <= n_places; ++message_at) {
        for (int notice_at = 0; notice_at < n_places; ++notice_at) {
            const std::string order =
                "message at " + std::to_string(message_at) + ", notice at " + std::to_string(notice_at);
            bool has_come = false;
            mine_.announced_to_me() = 0;
            const auto others_go_on = [&](int now) {
                has_come = has_come || now == message_at;
                if (now == notice_at) static_cast<void>(ring_for_notice(from_far, watchers_));
            };
            bell sleepers{false};
            others_go_on(before_it_shows);
            line.begin();
            line.add({context, news::message, 2, 1});
            others_go_on(before_it_sleeps);
            bool may_stay_awake = false;
            const std::uint64_t begin_ns = now_ns();
            static_cast<void>(mine_.ask_watcher());
            const bell::woken how =
                sleepers.sleep_in_sight(line.word(), static_cast<std::int64_t>(testing::patience_ns), [&] {
                    others_go_on(before_it_looks);
                    may_stay_awake = has_come || announced() != 0;
                    others_go_on(after_its_look);
                    return may_stay_awake;
                });
            mine_.release_watcher();
            EXPECT_TRUE(may_stay_awake || how == bell::woken::by_neighbor) << order;
            EXPECT_LT(now_ns() - begin_ns, testing::patience_ns / 2) << order;
            EXPECT_EQ(announced(), 1) << order << ": so it looks soon again, until the message has ended";
        }
    }
}

} // namespace
} // namespace commtask::detail
