// SPDX-License-Identifier: Apache-2.0
//
// Doorbells of a node: every order in which one rank begins to wait and another sends, over real memory and a counter instead of
// messages; and whom a lane rings, over a fake transport.
#include "core/worker.hpp"
#include "doorbell/node_ringer.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::lane_bench;

constexpr std::int64_t patience_ns = 60'000'000'000;

/// Pages as processes share them.
class shared_pages {
public:
    explicit shared_pages(std::size_t n_ranks) : n_bytes_(n_ranks * doorbells::page_bytes) {
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

/// Where a step of the sender falls among those of the rank that begins to wait.
enum place : int { before_it_arms, before_it_looks, after_its_look, n_places };

TEST(Doorbells, NoOrderOfArmingSendingAndRingingLosesAMessage) {
    for (int send_at = 0; send_at < n_places; ++send_at) {
        for (int ring_at = send_at; ring_at < n_places; ++ring_at) {
            const std::string order = "sent at " + std::to_string(send_at) + ", rung at " + std::to_string(ring_at);
            const shared_pages pages{2};
            const doorbells receivers{pages.begin(), {0, 1}, 0, 1};
            const doorbells senders{pages.begin(), {0, 1}, 1, 1};
            wakeup its{false, &receivers.my_word(0)};
            bool is_sent = false;
            unsigned n_woken = 0;
            const auto sender_goes_on = [&](int now) {
                if (now == send_at) is_sent = true;
                if (now == ring_at) n_woken += senders.ring(0);
            };
            sender_goes_on(before_it_arms);
            bool has_found = false;
            const std::uint64_t begin_ns = now_ns();
            const worker_state how = its.wait(worker_state::armed, patience_ns, [&] {
                sender_goes_on(before_it_looks);
                has_found = is_sent;
                sender_goes_on(after_its_look);
                return has_found;
            });
            EXPECT_TRUE(has_found || how == worker_state::rung) << order;
            EXPECT_LT(now_ns() - begin_ns, static_cast<std::uint64_t>(patience_ns) / 2) << order;
            EXPECT_EQ(n_woken, ring_at >= before_it_looks ? 1U : 0U) << order << ": no rank that is awake is rung";
        }
    }
}

TEST(Doorbells, ARingWakesAnArmedWorkerAndNoOther) {
    const shared_pages pages{2};
    const doorbells mine{pages.begin(), {0, 1}, 0, 1};
    const doorbells theirs{pages.begin(), {0, 1}, 1, 1, 0};
    std::atomic<std::uint32_t>& word = mine.my_word(0);
    for (const worker_state state : {worker_state::awake, worker_state::rung, worker_state::paused,
                                     worker_state::waiting, worker_state::armed, worker_state::blocked}) {
        const auto with = [&](auto&& ring) {
            word = wakeup::of(state);
            return ring() == 1 && word == wakeup::of(worker_state::rung);
        };
        EXPECT_EQ(with([&] { return theirs.ring(0); }), state == worker_state::armed);
        EXPECT_EQ(with([&] { return theirs.ring_any(0); }), state >= worker_state::waiting);
        EXPECT_EQ(with([&] { return theirs.ring_leader(); }), state == worker_state::blocked);
        word = wakeup::of(state);
        EXPECT_EQ(theirs.is_any_armed(), state == worker_state::armed);
        EXPECT_FALSE(mine.is_any_armed()) << "a rank does not stay up for itself";
    }
    const doorbells two_lanes{pages.begin(), {0, 1}, 0, 2, 0};
    two_lanes.my_word(1) = wakeup::of(worker_state::armed);
    EXPECT_TRUE(two_lanes.is_any_armed()) << "its first lane listens for its second";
    two_lanes.my_word(0) = two_lanes.my_word(1) = wakeup::of(worker_state::blocked);
    EXPECT_EQ(two_lanes.ring_leader(), 1U);
    EXPECT_EQ(two_lanes.my_word(1), wakeup::of(worker_state::blocked)) << "its first lane alone listens";
}

TEST(Doorbells, AThreadOfTheSameProcessWakesItToo) {
    const shared_pages pages{1};
    const doorbells bells{pages.begin(), {0}, 0, 1};
    for (const bool leaves_work : {true, false}) {
        wakeup mine{register_heavy_barrier(), &bells.my_word(0)};
        std::thread waiting{
            [&] { EXPECT_EQ(mine.wait(worker_state::armed, patience_ns, [] { return false; }), worker_state::awake); }};
        while (!mine.approx_waits()) std::this_thread::yield();
        leaves_work ? mine.wake_from_long_wait() : mine.wake();
        waiting.join();
    }
}

/// Two ranks that send to each other in turn, each of which waits until the other's message is there: what ends by the clock was lost.
TEST(Doorbells, LoseNothingBetweenTwoRanksThatTakeTurns) {
    constexpr unsigned n_turns = 2000;
    const shared_pages pages{2};
    std::array<std::atomic<unsigned>, 2> mailbox{};
    std::atomic<int> n_late{0};
    const auto play = [&](std::size_t me) {
        const doorbells bells{pages.begin(), {0, 1}, me, 1};
        wakeup mine{false, &bells.my_word(0)};
        for (unsigned turn = 1; turn <= n_turns; ++turn) {
            mailbox[1 - me].store(turn, std::memory_order_relaxed);
            bells.ring(1 - me);
            while (mailbox[me].load() < turn) {
                const worker_state how =
                    mine.wait(worker_state::armed, patience_ns, [&] { return mailbox[me].load() >= turn; });
                if (how == worker_state::armed && mailbox[me].load() < turn) ++n_late;
            }
        }
    };
    std::thread other{play, 1};
    play(0);
    other.join();
    EXPECT_EQ(n_late, 0);
}

TEST(Doorbells, WakeAcrossProcessesAndSurviveThatOneIsKilled) {
    const shared_pages pages{2};
    const doorbells mine{pages.begin(), {0, 1}, 0, 1};
    const pid_t child = fork();
    if (child == 0) {
        const doorbells theirs{pages.begin(), {0, 1}, 1, 1};
        while (theirs.ring(0) == 0) sched_yield();
        theirs.my_word(0) = wakeup::of(worker_state::armed); // and it dies in its wait
        kill(getpid(), SIGKILL);
    }
    wakeup here{register_heavy_barrier(), &mine.my_word(0)};
    EXPECT_EQ(here.wait(worker_state::armed, patience_ns, [] { return false; }), worker_state::rung);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(mine.ring(1), 1U) << "into the void";
}

/// Rank 1 of a communicator, at place 0 of its node; rank 0 is at place 1, and rank 2 on another node.
class NodeRinger : public ::testing::Test {
protected:
    void SetUp() override {
        auto peers = std::make_unique<node_peers>();
        peers->neighbors = {{0, 1}};
        bench_->queue(0).node = std::move(peers);
    }
    /// Whether rank 0's doorbell has been rung since it was armed last.
    [[nodiscard]] bool was_rung() {
        return neighbors_.my_word(0).exchange(wakeup::of(worker_state::armed)) == wakeup::of(worker_state::rung);
    }
    [[nodiscard]] static lane_settings plan(node_observer& rings, std::atomic<std::uint32_t>& own) {
        lane_settings made{.queue_capacity = 64, .submitters_start = true};
        made.node = &rings;
        made.doorbell = &own;
        return made;
    }
    task& post_to(int rank) {
        task& made = bench_->make();
        made.op.peer = rank;
        bench_->the_lane().post(made);
        bench_->run();
        return made;
    }

    shared_pages pages_{2};
    doorbells mine_{pages_.begin(), {0, 1}, 0, 1};
    doorbells neighbors_{pages_.begin(), {0, 1}, 1, 1};
    testing::fake_transport unused_;
    node_ringer ringer_{mine_, unused_, 0, 0};
    std::unique_ptr<lane_bench> bench_ = std::make_unique<lane_bench>(plan(ringer_, mine_.my_word(0)));
};

TEST_F(NodeRinger, RingsAtTheBeginningAndAtTheEndOfAMessage) {
    static_cast<void>(was_rung());
    task& sent = post_to(0);
    EXPECT_TRUE(was_rung());
    EXPECT_TRUE(ringer_.is_rung_for_all());
    bench_->complete(sent);
    EXPECT_TRUE(was_rung());
    EXPECT_EQ(ringer_.n_rung(), 2U);
}

TEST_F(NodeRinger, KnowsThatNobodyRingsForAMessageToAnotherNode) {
    static_cast<void>(was_rung());
    task& sent = post_to(2);
    EXPECT_FALSE(was_rung());
    EXPECT_FALSE(ringer_.is_rung_for_all());
    bench_->complete(sent);
    task& near = post_to(0);
    EXPECT_TRUE(ringer_.is_rung_for_all());
    bench_->complete(near);
}

TEST_F(NodeRinger, KnowsNothingInFlightAnyMoreOnceATaskWasGivenUp) {
    static_cast<void>(post_to(2));
    bench_->the_lane().ending.abandon(any_task);
    static_cast<void>(post_to(0));
    EXPECT_TRUE(ringer_.is_rung_for_all());
    bench_->the_lane().ending.abandon(any_task);
    EXPECT_FALSE(ringer_.is_rung_for_all()) << "nothing is in flight";
}

TEST_F(NodeRinger, RingsForGatheredMembersOnceMpiHasThem) {
    static_cast<void>(was_rung());
    task& member = bench_->make();
    member.op.peer = 0;
    ringer_.started(member, true);
    EXPECT_FALSE(was_rung());
    ringer_.started_gathered();
    EXPECT_TRUE(was_rung());
    ringer_.started_gathered();
    EXPECT_FALSE(was_rung()) << "once";
    bench_->the_lane().post(member);
    bench_->complete(member);
}

/// Announcements that MPI does not take at first.
class slow_announcer final : public announcer {
public:
    slow_announcer(int& n_polls, int& n_added) : n_polls_(n_polls), n_added_(n_added) {}
    void add(std::int32_t /*world_rank*/) noexcept override { ++n_added_; }
    unsigned poll() noexcept override {
        ++n_polls_;
        return 0;
    }
    [[nodiscard]] bool has_unsent() const noexcept override { return n_added_ > 0 && n_polls_ < 3; }
    [[nodiscard]] bool end() noexcept override { return true; }

private:
    int& n_polls_;
    int& n_added_;
};

TEST_F(NodeRinger, SendsAnnouncementsThoughNothingIsInFlight) {
    int n_polls = 0;
    int n_added = 0;
    ringer_.announce_by(std::make_unique<slow_announcer>(n_polls, n_added));
    unused_.sizes.sent_bytes = 1;
    task& sent = bench_->make({.tag = testing::fake_transport::completes_at_once});
    sent.op.peer = 2;
    bench_->the_lane().post(sent);
    for (int i = 0; i < 10; ++i) static_cast<void>(bench_->the_lane().engine.progress());
    EXPECT_EQ(n_added, 1);
    EXPECT_GE(n_polls, 3);
    EXPECT_FALSE(bench_->the_lane().engine.has_work());
}

/// A large receive from another node, at a rank whose leader is in place `leader`.
class NodeFarReceive : public NodeRinger, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(NodeFarReceive, IsRungForWhereAnotherRankIsTheLeader) {
    int n_polls = 0;
    int n_added = 0;
    const doorbells bells{pages_.begin(), {0, 1}, 0, 1, GetParam()};
    testing::fake_transport below;
    below.sizes.room_bytes = 1'000;
    node_ringer ringer{bells, below, 0, 100};
    ringer.announce_by(std::make_unique<slow_announcer>(n_polls, n_added));
    auto peers = std::make_unique<node_peers>();
    peers->remote_ranks = {-1, -1, 7, -1};
    bench_->queue(0).node = std::move(peers);
    task& received = bench_->make();
    received.op.kind = COMMTASK_OP_RECV;
    for (const int source : {2, 3}) { // 3: of no world that this rank knows
        received.op.source = source;
        received.run.open_parts = 1;
        ringer.started(received, false);
        EXPECT_EQ(ringer.is_rung_for_all(), source == 2 && GetParam() == 1) << source;
        ringer.ended(received);
    }
    received.run = {};
    received.op.kind = COMMTASK_OP_SEND;
    bench_->the_lane().post(received);
    bench_->complete(received);
}
INSTANTIATE_TEST_SUITE_P(Leaders, NodeFarReceive, ::testing::Values(std::size_t{0}, std::size_t{1}, doorbells::nobody));

TEST_F(NodeRinger, WaitsArmedAndIsRung) {
    lane_stats counters;
    task* sent = nullptr;
    {
        const worker beside{bench_->the_lane(), {.spin_ns = 1'000, .wait_max_ns = 10'000, .counters = &counters}};
        sent = &bench_->make();
        sent->op.peer = 0;
        bench_->the_lane().post(*sent);
        ASSERT_TRUE(comes_true([&] { return mine_.my_word(0) == wakeup::of(worker_state::armed); }));
        ASSERT_TRUE(comes_true([&] { return bench_->the_lane().engine.lock.try_acquire(); }));
        bench_->carrier().land(*sent);
        bench_->the_lane().engine.lock.release();
        static_cast<void>(neighbors_.ring(0)); // it may be between two waits
        EXPECT_TRUE(comes_true([&] { return sent->life.state() == task_state::completed; }));
    }
    EXPECT_GT(counters.worker_timed_waits, 0U);
}

TEST_F(NodeRinger, AWorkerThatAttendsAWindowNeverWaitsLong) {
    bench_->the_lane().count_windows(1);
    const worker beside{bench_->the_lane(), {.spin_ns = 1'000, .wait_max_ns = 10'000}};
    const int before = bench_->carrier().n_progress;
    while (bench_->carrier().n_progress < before + 1000) {
        ASSERT_NE(mine_.my_word(0), wakeup::of(worker_state::armed));
    }
    bench_->the_lane().count_windows(-1);
}

} // namespace
} // namespace commtask::detail
