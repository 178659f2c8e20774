// SPDX-License-Identifier: Apache-2.0
//
// The bells of a node without workers: what matches, what a line holds, and every order in which one falls asleep and another
// sends. The fake network is a counter: sent is what was stored, and a look finds it.
#include "core/node_news.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

constexpr std::int32_t any = awaited_news::any;
constexpr std::int64_t patience_ns = 60'000'000'000;

/// Pages as processes share them.
class shared_pages {
public:
    explicit shared_pages(std::size_t n_ranks) : n_bytes_(node_bells::bytes_for(n_ranks)) {
        memory_ = mmap(nullptr, n_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    }
    shared_pages(const shared_pages&) = delete;
    shared_pages& operator=(const shared_pages&) = delete;
    ~shared_pages() { munmap(memory_, n_bytes_); }
    [[nodiscard]] void* begin() const { return memory_; }

private:
    std::size_t n_bytes_;
    void* memory_;
};

[[nodiscard]] std::vector<int> ranks(std::size_t n) {
    std::vector<int> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<int>(i));
    return all;
}

TEST(NodeLine, WhoWasHiddenAfterALookAtItStaysHidden) {
    std::array<std::atomic<std::uint64_t>, 8> cells{};
    const node_line line{cells};
    line.word() = bell::asleep_in_sight;
    ASSERT_TRUE(line.is_asleep());
    bell::hide(line.word());
    EXPECT_FALSE(line.wake());
    EXPECT_NE(line.word(), 0U) << "that would say that it is awake, and nobody has woken it";
    EXPECT_TRUE(bell::show(line.word()));
    EXPECT_TRUE(line.wake());
    EXPECT_FALSE(bell::show(line.word())) << "it is awake";
}

TEST(NodeNews, MatchesAsMessagesDo) {
    const awaited_news sent{7, news::message, 3, 11};
    EXPECT_TRUE(is_news_for(sent, {7, news::message, 3, 11}));
    EXPECT_TRUE(is_news_for(sent, {7, news::message, any, 11}));
    EXPECT_TRUE(is_news_for(sent, {7, news::message, 3, any}));
    EXPECT_TRUE(is_news_for(sent, {7, news::message, any, any}));
    EXPECT_FALSE(is_news_for(sent, {8, news::message, any, any})) << "another communicator";
    EXPECT_FALSE(is_news_for(sent, {7, news::receipt, 3, 11})) << "a send waits there";
    EXPECT_FALSE(is_news_for(sent, {7, news::message, 2, 11})) << "another source";
    EXPECT_FALSE(is_news_for(sent, {7, news::message, 3, 12})) << "another tag";
    EXPECT_TRUE(is_news_for({7, news::receipt, 3, any}, {7, news::receipt, 3, 5}))
        << "a receive with any tag was posted";
}

[[nodiscard]] commtask_op receive_from(int source, int tag) {
    commtask_op op{};
    op.kind = COMMTASK_OP_RECV;
    op.source = source;
    op.recv_tag = tag;
    return op;
}

[[nodiscard]] commtask_op send_to(int dest, int tag) {
    commtask_op op{};
    op.kind = COMMTASK_OP_SEND;
    op.peer = dest;
    op.send_tag = tag;
    return op;
}

/// Rank 0 of three, of which rank 1 is on this node.
[[nodiscard]] node_peers two_of_three() {
    node_peers made;
    made.context = 9;
    made.neighbors = {{1, 1}};
    return made;
}

TEST(NodeNews, KnowsWhatNeighboursRingFor) {
    node_peers peers = two_of_three();
    EXPECT_EQ(news_awaited_by(receive_from(1, 5), peers).how, foreseen::all);
    EXPECT_EQ(news_awaited_by(receive_from(2, 5), peers).how, foreseen::nothing) << "it is on another node";
    EXPECT_EQ(news_awaited_by(send_to(1, 5), peers).how, foreseen::all);
    EXPECT_EQ(news_awaited_by(receive_from(MPI_ANY_SOURCE, MPI_ANY_TAG), peers).how, foreseen::nothing);
    EXPECT_EQ(news_awaited_by(receive_from(MPI_PROC_NULL, 0), peers).n, 0U);
    peers.far_ranks = {-1, -1, 2, -1}; // rank 3 was spawned
    EXPECT_TRUE(news_awaited_by(receive_from(2, 5), peers).is_only_far);
    EXPECT_FALSE(news_awaited_by(receive_from(3, 5), peers).is_only_far) << "nobody announces for it";
    EXPECT_FALSE(news_awaited_by(receive_from(0, 5), peers).is_only_far) << "its own";
    EXPECT_FALSE(news_awaited_by(receive_from(MPI_ANY_SOURCE, 5), peers).is_only_far);
    peers.is_each_far_known = true;
    EXPECT_TRUE(news_awaited_by(receive_from(MPI_ANY_SOURCE, 5), peers).is_only_far);
    commtask_op barrier{};
    barrier.kind = COMMTASK_OP_BARRIER;
    EXPECT_EQ(news_awaited_by(barrier, peers).how, foreseen::nothing);
    peers.are_all = true;
    EXPECT_EQ(news_awaited_by(receive_from(MPI_ANY_SOURCE, MPI_ANY_TAG), peers).how, foreseen::all);
    EXPECT_EQ(news_awaited_by(receive_from(MPI_ANY_SOURCE, MPI_ANY_TAG), peers).entries[0],
              (awaited_news{9, news::message, any, any}));
    EXPECT_EQ(news_awaited_by(barrier, peers).how, foreseen::ends) << "its steps are MPI's own";
    commtask_op put{};
    put.kind = COMMTASK_OP_PUT;
    EXPECT_EQ(news_awaited_by(put, peers).how, foreseen::nothing);
    commtask_op blocking = receive_from(1, 5); // as commtask-run hands it over
    blocking.array_form = blocking.kind;
    blocking.kind = COMMTASK_OP_ATTACH;
    EXPECT_EQ(news_awaited_by(blocking, peers).entries[0], (awaited_news{9, news::message, 1, 5}));
}

TEST(NodeNews, AReceiveAndItsSendAreMirrors) {
    const node_peers mine = two_of_three();
    const awaited_news by_receiver = news_awaited_by(receive_from(1, 5), mine).entries[0];
    const awaited_news by_sender = news_awaited_by(send_to(1, 5), mine).entries[0];
    EXPECT_TRUE(is_news_for(mirrored(by_sender, 1), by_receiver)) << "rank 1 sends to this one, as this one to it";
    EXPECT_TRUE(is_news_for(mirrored(by_receiver, 1), by_sender));
    EXPECT_FALSE(is_news_for(mirrored(by_receiver, 1), by_receiver));
}

TEST(NodeLine, HoldsWhatItHasRoomForAndThenAwaitsAnything) {
    for (const std::size_t n_lanes : {1U, 2U, 3U, 16U}) {
        const shared_pages pages{2};
        const node_bells bells{pages.begin(), ranks(2), 1, n_lanes};
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            const node_line line = bells.my_line(lane);
            EXPECT_GE(line.capacity(), 15U);
            line.begin();
            for (std::size_t i = 0; i < line.capacity(); ++i) {
                line.add({static_cast<std::uint32_t>(lane), news::message, static_cast<std::int32_t>(i), 1});
            }
            line.word().store(bell::asleep_in_sight);
        }
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            const node_line line = bells.line(1, lane);
            const auto context = static_cast<std::uint32_t>(lane);
            EXPECT_TRUE(line.awaits({context, news::message, static_cast<std::int32_t>(line.capacity()) - 1, 1}));
            EXPECT_FALSE(line.awaits({context, news::message, static_cast<std::int32_t>(line.capacity()), 1}));
            EXPECT_FALSE(line.awaits({context + 1, news::message, 0, 1})) << "the next lane's entry";
            line.add({context, news::message, 0, 2});
            EXPECT_TRUE(line.awaits({context + 1, news::turn, 0, 1})) << "one too many: anything";
            line.word().store(0);
            EXPECT_FALSE(line.awaits({context, news::message, 0, 1})) << "awake";
        }
    }
}

TEST(NodeBells, NeedAPageOfEachRank) {
    constexpr std::size_t most_bytes = 300 << 10;
    EXPECT_EQ(node_bells::bytes_for(8), 8U * 4096U);
    EXPECT_LE(node_bells::bytes_for(1) + sizeof(node_bells) + 256 * sizeof(node_peers::neighbor) + sizeof(node_peers),
              most_bytes);
}

/// Where a step of the sender falls among those of the one who falls asleep.
enum place : int { before_it_shows, before_it_sleeps, before_it_looks, after_its_look, n_places };

TEST(NodeBells, NoOrderOfSleepSendLookAndWakeLosesAMessage) {
    for (int send_at = 0; send_at < n_places; ++send_at) {
        for (int look_at = send_at; look_at < n_places; ++look_at) {
            const std::string order = "sent at " + std::to_string(send_at) + ", looked at " + std::to_string(look_at);
            const shared_pages pages{2};
            const node_bells sleepers{pages.begin(), ranks(2), 0, 1};
            const node_bells senders{pages.begin(), ranks(2), 1, 1};
            std::atomic<bool> is_sent{false};
            unsigned n_woken = 0;
            const auto sender_goes_on = [&](int now) {
                if (now == send_at) is_sent = true;
                if (now == look_at) n_woken += senders.ring(0, {5, news::message, 1, 2});
            };
            bell sleepers_bell{false};
            const node_line line = sleepers.my_line(0);
            sender_goes_on(before_it_shows);
            line.begin();
            line.add({5, news::message, any, 2});
            sender_goes_on(before_it_sleeps);
            bool has_found = false;
            const std::uint64_t begin_ns = now_ns();
            const bell::woken how = sleepers_bell.sleep_in_sight(line.word(), patience_ns, [&] {
                sender_goes_on(before_it_looks);
                has_found = is_sent;
                sender_goes_on(after_its_look);
                return has_found;
            });
            EXPECT_TRUE(has_found || how == bell::woken::by_neighbor) << order;
            EXPECT_LT(now_ns() - begin_ns, static_cast<std::uint64_t>(patience_ns) / 2) << order;
            EXPECT_EQ(n_woken, look_at >= before_it_looks ? 1U : 0U) << order << ": nobody awake is rung";
            EXPECT_EQ(line.word().load(), 0U);
        }
    }
}

TEST(NodeBells, AThreadOfItsOwnProcessWakesOneWhoSleepsInSight) {
    const shared_pages pages{1};
    const node_bells bells{pages.begin(), ranks(1), 0, 1};
    for (const bool is_leaving : {true, false}) {
        bell mine{register_heavy_barrier()};
        bell::woken how = bell::woken::by_nobody;
        std::thread sleeper{
            [&] { how = mine.sleep_in_sight(bells.my_line(0).word(), patience_ns, [] { return false; }); }};
        while (!mine.approx_is_asleep()) std::this_thread::yield();
        mine.ring_if_deep(); // it wakes by itself, in time for who goes on itself
        is_leaving ? mine.ring_unless_it_naps() : mine.ring();
        sleeper.join();
        EXPECT_EQ(how, bell::woken::by_a_thread);
    }
}

TEST(NodeBells, ANapInSightEndsWithoutABell) {
    const shared_pages pages{1};
    const node_bells bells{pages.begin(), ranks(1), 0, 1};
    bell mine{register_heavy_barrier()};
    EXPECT_EQ(mine.sleep_in_sight(bells.my_line(0).word(), 1'000'000, [] { return false; }), bell::woken::by_nobody);
}

/// Two who send to each other in turn, each of which sleeps until the other's message is there: lost is what ends by the clock.
TEST(NodeBells, LoseNothingBetweenTwoWhoTakeTurns) {
    constexpr unsigned n_turns = 2000;
    const shared_pages pages{2};
    std::array<std::atomic<unsigned>, 2> mailbox{};
    std::atomic<int> n_late{0};
    const auto play = [&](std::size_t me) {
        const node_bells bells{pages.begin(), ranks(2), me, 1};
        const auto other = static_cast<std::uint32_t>(1 - me);
        bell mine{false};
        for (unsigned turn = 1; turn <= n_turns; ++turn) {
            mailbox[other].store(turn, std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            bells.ring(other, {1, news::message, static_cast<std::int32_t>(me), 0});
            while (mailbox[me].load() < turn) {
                bells.my_line(0).begin();
                bells.my_line(0).add({1, news::message, static_cast<std::int32_t>(other), 0});
                const bell::woken how = mine.sleep_in_sight(bells.my_line(0).word(), patience_ns,
                                                            [&] { return mailbox[me].load() >= turn; });
                if (how == bell::woken::by_nobody && mailbox[me].load() < turn) ++n_late;
            }
        }
    };
    std::thread other{play, 1};
    play(0);
    other.join();
    EXPECT_EQ(n_late, 0);
}

TEST(NodeBells, WakeAcrossProcessesAndSurviveThatOneIsKilled) {
    const shared_pages pages{2};
    const node_bells mine{pages.begin(), ranks(2), 0, 1};
    const pid_t child = fork();
    if (child == 0) {
        const node_bells theirs{pages.begin(), ranks(2), 1, 1};
        const awaited_news sent{3, news::message, 1, 0};
        while (theirs.ring(0, sent) == 0) sched_yield();
        theirs.my_line(0).word().store(bell::asleep_in_sight); // and it dies asleep
        kill(getpid(), SIGKILL);
    }
    bell here{register_heavy_barrier()};
    mine.my_line(0).begin();
    mine.my_line(0).add({3, news::message, 1, any});
    EXPECT_EQ(here.sleep_in_sight(mine.my_line(0).word(), patience_ns, [] { return false; }), bell::woken::by_neighbor);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(mine.ring(1, {3, news::message, 0, 0}), 0U) << "what it awaited was not this";
}

TEST(NapPlan, GrowsToItsBoundAndFurtherOnlyInSight) {
    nap_plan naps{40'000};
    std::vector<std::int64_t> seen;
    for (int i = 0; i < 6; ++i) seen.push_back(naps.next(foreseen::nothing).ns);
    EXPECT_EQ(seen, (std::vector<std::int64_t>{5'000, 10'000, 20'000, 40'000, 40'000, 40'000}));
    for (int i = 0; i < tuning::full_naps_before_longer; ++i) {
        const planned_nap full = naps.next(foreseen::all);
        EXPECT_EQ(full.ns, 40'000);
        EXPECT_TRUE(full.is_in_sight);
    }
    EXPECT_EQ(naps.next(foreseen::all).ns, 160'000);
    EXPECT_EQ(naps.next(foreseen::all).ns, 640'000);
    EXPECT_EQ(naps.next(foreseen::ends).ns, 40'000) << "a step of a collective may come meanwhile";
    EXPECT_EQ(naps.next(foreseen::nothing).ns, 40'000);
    for (int i = 0; i < 20; ++i) EXPECT_LE(naps.next(foreseen::all).ns, tuning::longest_nap_in_sight_ns);
    naps.restart();
    EXPECT_EQ(naps.next(foreseen::all).ns, tuning::first_nap_ns);
    EXPECT_FALSE(naps.is_full());
}

TEST(NapPlan, NeverExceedsALongBoundOfTheUsers) {
    nap_plan naps{10'000'000};
    std::int64_t longest = 0;
    for (int i = 0; i < 40; ++i) longest = std::max(longest, naps.next(foreseen::all).ns);
    EXPECT_EQ(longest, 10'000'000);
}

} // namespace
} // namespace commtask::detail
