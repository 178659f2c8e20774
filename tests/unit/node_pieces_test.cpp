// SPDX-License-Identifier: Apache-2.0
//
// A message that its MPI moves in pieces: both sides must look at each piece, and no end tells of it. So a look that ends nothing
// wakes who sleeps at the other end, at a pace that is a function of times; over a fake transport, the other rank being the test.
#include "core/ring_pace.hpp"
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::lane_bench;

TEST(RingPace, IsThatOfNapsAndTakesAShareOfTheTimeHoweverMuchIsOpen) {
    ring_pace pace;
    EXPECT_TRUE(pace.may_ring(1'000'000));
    for (const std::size_t n_open : {1U, 10'000U}) {
        const std::uint64_t pause = tuning::ring_pause_ns + n_open * tuning::ring_pause_for_each_open_ns;
        pace.rings(1'000'000, n_open);
        EXPECT_FALSE(pace.may_ring(1'000'000 + pause - 1)) << n_open;
        EXPECT_TRUE(pace.may_ring(1'000'000 + pause)) << n_open;
    }
}

TEST(NapPlan, GoesBackToItsBoundWhereABellBroughtNoEnd) {
    nap_plan naps{40'000};
    while (naps.next(foreseen::all).ns <= 40'000) {}
    naps.begin_at_bound();
    EXPECT_TRUE(naps.is_full());
    for (int i = 0; i < tuning::full_naps_before_longer; ++i) EXPECT_EQ(naps.next(foreseen::all).ns, 40'000);
    EXPECT_GT(naps.next(foreseen::all).ns, 40'000);
    naps.restart();
    naps.begin_at_bound();
    EXPECT_EQ(naps.next(foreseen::all).ns, tuning::first_nap_ns) << "short naps are left as they are";
}

/// Rank 1, at place 0 of its node; rank 0 is at place 1, and the test's. What is posted are sends to rank 0.
class NodePieces : public ::testing::Test {
protected:
    static constexpr awaited_news message{4, news::message, 1, 0};
    static constexpr awaited_news receipt{4, news::receipt, 0, 0};

    void SetUp() override {
        auto peers = std::make_unique<node_peers>();
        peers->context = 4;
        peers->me = 1;
        peers->are_all = true;
        peers->neighbors = {{0, 1}};
        bench_.queue(0).node = std::move(peers);
    }

    void neighbor_sleeps() {
        const node_line theirs = neighbors_.my_line(0);
        theirs.begin();
        theirs.add(message);
        theirs.word() = bell::asleep_in_sight;
    }
    [[nodiscard]] bool neighbor_is_asleep() const { return neighbors_.my_line(0).is_asleep(); }

    alignas(4096) std::array<std::atomic<std::uint64_t>, 2 * node_bells::page_bytes / sizeof(std::uint64_t)> pages_{};
    node_bells mine_{pages_.data(), {0, 1}, 0, 1};
    node_bells neighbors_{pages_.data(), {0, 1}, 1, 1};
    lane_bench bench_{lane_settings{.queue_capacity = 64, .posters_issue = true, .node = &mine_}};
};

TEST_F(NodePieces, ALookThatEndsNothingWakesWhoSleepsAtTheOtherEnd) {
    task& sent = bench_.post();
    bench_.run();
    for (int piece = 0; piece < 5; ++piece) {
        neighbor_sleeps();
        EXPECT_TRUE(comes_true([&] {
            EXPECT_FALSE(bench_.the_lane().progress());
            return !neighbor_is_asleep();
        })) << "piece "
            << piece;
    }
    bench_.complete(sent);
}

TEST_F(NodePieces, ALookWakesNobodyWhoWaitsForSomethingElse) {
    task& sent = bench_.post();
    bench_.run();
    const node_line theirs = neighbors_.my_line(0);
    theirs.begin();
    theirs.add({4, news::message, 1, 99});
    theirs.word() = bell::asleep_in_sight;
    const std::uint64_t begin_ns = now_ns();
    while (now_ns() - begin_ns < 20 * tuning::ring_pause_ns) EXPECT_FALSE(bench_.the_lane().progress());
    EXPECT_TRUE(neighbor_is_asleep());
    bench_.complete(sent);
}

/// Each look of either side moves one piece if it is that side's turn, and tells nobody.
TEST_F(NodePieces, TwoWorkersCarryAMessageOfManyPieces) {
    constexpr int n_pieces = 200;
    task& sent = bench_.post();
    std::atomic<int> n_moved{0};
    const worker beside{bench_.the_lane(), {.is_reserved = false, .spin_ns = 1'000, .nap_max_ns = 50'000}};
    bell my_bell{false};
    std::uint64_t passes_seen = 0;
    // The test's side: it moves every second piece, and sleeps in sight as a worker does, without a clock of its own.
    while (n_moved < n_pieces) {
        neighbor_sleeps();
        const bell::woken how =
            my_bell.sleep_in_sight(neighbors_.my_line(0).word(), static_cast<std::int64_t>(testing::patience_ns), [&] {
                const std::uint64_t passes = bench_.the_lane().approx_passes();
                if (passes == passes_seen) return false;
                passes_seen = passes;
                ++n_moved;
                static_cast<void>(neighbors_.ring(0, receipt));
                return true;
            });
        ASSERT_TRUE(how == bell::woken::by_neighbor || how == bell::woken::by_nobody);
    }
    ASSERT_TRUE(comes_true([&] { return bench_.the_lane().try_take_baton(); }));
    bench_.carrier().land(sent);
    bench_.the_lane().return_baton();
    EXPECT_TRUE(comes_true([&] { return sent.life.state() == task_state::completed; }));
}

} // namespace
} // namespace commtask::detail
