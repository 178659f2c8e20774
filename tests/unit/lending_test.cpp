// SPDX-License-Identifier: Apache-2.0
//
// A worker with nothing to do lends its core: at once if it is told to, else after a while, and has it back before its next pass.
// Which threads get the core is the test unit.affinity.
#include "core/worker.hpp"
#include "fake_transport.hpp"
#include "patience.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace commtask::detail {
namespace {

using testing::comes_true;
using testing::fake_transport;
using testing::lane_bench;

constexpr std::uint64_t for_ever_ns = 3'600'000'000'000;

/// A reserved worker beside a lane, and what it says of its core.
struct lender {
    explicit lender(std::uint64_t after_ns)
        : the_worker(bench.the_lane(), {.is_reserved = true,
                                        .spin_ns = 1'000,
                                        .on_start = {},
                                        .lend_after_ns = after_ns,
                                        .lend_core = [this](bool is_now) {
                                            is_lent = is_now;
                                            ++n_changes;
                                        }}) {}

    lane_bench bench;
    std::atomic<bool> is_lent{false};
    std::atomic<int> n_changes{0};
    worker the_worker;
};

TEST(Lending, BeginsAtOnceForWhoIsToldAndEndsBeforeTheNextPass) {
    lender one{for_ever_ns};
    ASSERT_TRUE(comes_true([&] { return one.bench.the_lane().wake_up.approx_waits(); }));
    EXPECT_FALSE(one.is_lent);
    one.the_worker.lend_at_once(true);
    ASSERT_TRUE(comes_true([&] { return one.is_lent.load(); }));
    for (int i = 0; i < 3; ++i) {
        const int before = one.n_changes;
        task& posted = one.bench.post({.tag = fake_transport::completes_at_once});
        ASSERT_TRUE(comes_true([&] { return posted.life.state() == task_state::completed; }));
        EXPECT_GT(one.n_changes, before) << "taken back";
        ASSERT_TRUE(comes_true([&] { return one.is_lent.load(); }));
    }
}

TEST(Lending, KeepsTheCoreWhileSomethingIsInFlight) {
    lender one{for_ever_ns};
    task& sent = one.bench.post();
    one.the_worker.lend_at_once(true);
    const std::uint64_t passes = one.bench.the_lane().engine.approx_progress_calls();
    ASSERT_TRUE(comes_true([&] { return one.bench.the_lane().engine.approx_progress_calls() > passes + 1000; }));
    EXPECT_FALSE(one.is_lent);
    one.the_worker.stop();
    one.bench.complete(sent);
}

TEST(Lending, BeginsByItselfAfterAWhile) {
    lender one{1'000'000};
    EXPECT_TRUE(comes_true([&] { return one.is_lent.load(); }));
}

TEST(Lending, EndsForGoodWithTheNextTaskOnceTheLaneIsAtWorkAgain) {
    lender one{for_ever_ns};
    one.the_worker.lend_at_once(true);
    ASSERT_TRUE(comes_true([&] { return one.is_lent.load(); }));
    one.the_worker.lend_at_once(false);
    task& posted = one.bench.post({.tag = fake_transport::completes_at_once});
    ASSERT_TRUE(comes_true([&] { return posted.life.state() == task_state::completed; }));
    ASSERT_TRUE(comes_true([&] { return one.bench.the_lane().wake_up.approx_waits(); }));
    EXPECT_FALSE(one.is_lent);
}

} // namespace
} // namespace commtask::detail
