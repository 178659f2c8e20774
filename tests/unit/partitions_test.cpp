// SPDX-License-Identifier: Apache-2.0
//
// Partitions without MPI: both sides cut alike, whatever they know of each other, and a group leaves with the last of the partitions
// that reach into it, in whatever order they are filled, in every run.
#include "core/partitions.hpp"

#include "core/plan.hpp"
#include "core/run_posting.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace commtask::detail::testing {
namespace {

TEST(PartitionGroups, CutEverySizeIntoPiecesThatDifferByOne) {
    for (const std::int64_t element_bytes : {1, 8, 1000, 65536, 1 << 20}) {
        for (std::int64_t n = 0; n < 300; ++n) {
            const partition_groups groups{n, element_bytes};
            ASSERT_GE(groups.count(), 1U);
            ASSERT_LE(groups.count(), most_partition_groups);
            ASSERT_EQ(groups.begin_of(0), 0);
            ASSERT_EQ(groups.begin_of(groups.count()), n);
            for (std::uint32_t group = 0; group < groups.count(); ++group) {
                const std::int64_t length = groups.begin_of(group + 1) - groups.begin_of(group);
                ASSERT_TRUE(length == n / groups.count() || length == n / groups.count() + 1);
                for (std::int64_t i = groups.begin_of(group); i < groups.begin_of(group + 1); ++i) {
                    ASSERT_EQ(groups.group_of(i), group);
                }
            }
        }
    }
}

TEST(PartitionGroups, AreAsLargeAsTheTableSays) {
    EXPECT_EQ((partition_groups{8191, 8}.count()), 1U);
    EXPECT_EQ((partition_groups{3 * 8192, 8}.count()), 3U);
    EXPECT_EQ((partition_groups{1'000'000'000'000, 8}.count()), most_partition_groups);
    EXPECT_EQ((partition_groups{5, 0}.count()), 1U) << "elements without a payload";
}

TEST(PartitionGroups, HaveTagsThatNobodyElseHas) {
    constexpr int upper = 32767; // the least that MPI promises
    const int most = highest_partitioned_tag(upper);
    std::vector<int> tags;
    for (const int tag : {0, 1, 2, most - 1, most}) {
        for (std::uint32_t group = 0; group < most_partition_groups; ++group)
            tags.push_back(group_tag(tag, group, upper));
    }
    std::ranges::sort(tags);
    EXPECT_TRUE(std::ranges::adjacent_find(tags) == tags.end());
    EXPECT_GT(tags.front(), upper / 2);
    EXPECT_EQ(tags.back(), upper);
}

/// A psend of elements that are a group each, as recording makes it.
class partitioned {
public:
    partitioned(lane_bench& bench, std::int64_t n_elements, std::int64_t n_partitions) : bench_(bench) {
        auto parts = std::make_unique<partition_set>();
        parts->groups = partition_groups{n_elements, partition_group_bytes};
        parts->n_partitions = n_partitions;
        parts->per_partition = n_elements / n_partitions;
        parts->sends = true;
        parts->filled_for = std::make_unique<std::atomic<std::uint64_t>[]>(static_cast<std::size_t>(n_partitions));
        parts->n_unfilled = std::make_unique<std::array<std::atomic<std::uint32_t>, 2>[]>(parts->groups.count());
        plan_member whole;
        for (std::uint32_t group = 0; group < parts->groups.count(); ++group) {
            plan_member made;
            made.op.kind = COMMTASK_OP_SEND;
            made.queue = &bench.queue(0);
            made.is_group = made.is_deferred = true;
            whole.predecessors.push_back(group);
            EXPECT_NE(plan_.add(std::move(made)), nullptr);
        }
        whole.op.kind = COMMTASK_OP_PSEND;
        whole.op.send_tag = fake_transport::completes_at_once;
        whole.queue = &bench.queue(0);
        whole.partitions = std::move(parts);
        EXPECT_NE(plan_.add(std::move(whole)), nullptr);
        EXPECT_EQ(plan_.n_posted(), 1U);
        plan_.end_change();
    }
    partitioned(const partitioned&) = delete;
    partitioned& operator=(const partitioned&) = delete;
    ~partitioned() {
        EXPECT_TRUE(plan_.try_change());
        plan_.cancel_instantiated(release_to_its_lane);
    }

    task& start() {
        task& run = bench_.make();
        run.op.kind = COMMTASK_OP_PLAN;
        run.op.result = &plan_;
        run.op.reserved |= static_cast<int>(flag_is_run);
        EXPECT_EQ(plan_.try_start(), plan::start_status::done);
        run.life.take_reference();
        plan_.begin_start(run);
        EXPECT_TRUE(post_run(run, true));
        bench_.run();
        return run;
    }
    bool fill(std::int64_t partition) {
        const bool is_first = plan_.fill_partition(plan_.posted(0), partition, release_to_its_lane);
        bench_.run();
        return is_first;
    }
    task& group(std::size_t number) { return *plan_.started_of(plan_[number]); }
    [[nodiscard]] std::size_t n_groups() { return plan_.size() - 1; }

private:
    lane_bench& bench_;
    plan plan_;
};

TEST(Partitions, LetEachGroupGoWithTheLastOneThatReachesIntoIt) {
    // 12 elements: 12 groups; partitions of 3 elements and of 4 alike, and of 1.
    for (const std::int64_t n_partitions : {1, 3, 4}) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(n_partitions));
        std::iota(order.begin(), order.end(), 0);
        lane_bench bench;
        partitioned exchange{bench, 12, n_partitions};
        ASSERT_EQ(exchange.n_groups(), 12U);
        do {
            SCOPED_TRACE("order " + ::testing::PrintToString(order));
            task& run = exchange.start();
            EXPECT_TRUE(bench.carrier().take_started().empty());
            for (const std::int64_t partition : order) {
                EXPECT_TRUE(exchange.fill(partition));
                EXPECT_FALSE(exchange.fill(partition)) << "once in a run";
                const auto started = bench.carrier().take_started();
                const auto each = static_cast<std::size_t>(12 / n_partitions);
                ASSERT_EQ(started.size(), each);
                for (std::size_t i = 0; i < each; ++i) {
                    EXPECT_EQ(started[i], &exchange.group(static_cast<std::size_t>(partition) * each + i));
                }
            }
            for (std::size_t group = 0; group < 12; ++group) {
                EXPECT_EQ(run.life.state(), task_state::open);
                bench.complete(exchange.group(group));
            }
            static_cast<void>(bench.carrier().take_started()); // the whole
            EXPECT_EQ(run.life.state(), task_state::completed);
        } while (std::ranges::next_permutation(order).found);
    }
}

TEST(Partitions, ThatShareAGroupLetItGoTogetherInEveryOrder) {
    // 64 elements in 32 groups of two; 8 partitions of 8, of which each group has one: then 64 partitions, two to a group.
    lane_bench bench;
    partitioned exchange{bench, 64, 64};
    ASSERT_EQ(exchange.n_groups(), 32U);
    for (const bool is_backward : {false, true, false}) {
        task& run = exchange.start();
        for (std::int64_t i = 0; i < 64; ++i) {
            EXPECT_TRUE(exchange.fill(is_backward ? 63 - i : i));
            EXPECT_EQ(bench.carrier().take_started().size(), static_cast<std::size_t>(i % 2));
        }
        for (std::size_t group = 0; group < 32; ++group) bench.complete(exchange.group(group));
        static_cast<void>(bench.carrier().take_started());
        EXPECT_EQ(run.life.state(), task_state::completed);
    }
}

TEST(Partitions, FilledBeforeTheStartCountForTheNextRun) {
    lane_bench bench;
    partitioned exchange{bench, 2, 2};
    for (int turn = 0; turn < 4; ++turn) {
        EXPECT_TRUE(exchange.fill(0));
        EXPECT_FALSE(exchange.fill(0));
        EXPECT_TRUE(bench.carrier().take_started().empty());
        task& run = exchange.start();
        EXPECT_EQ(bench.carrier().take_started().size(), 1U);
        EXPECT_TRUE(exchange.fill(1));
        EXPECT_EQ(bench.carrier().take_started().size(), 1U);
        bench.complete(exchange.group(0));
        bench.complete(exchange.group(1));
        static_cast<void>(bench.carrier().take_started());
        EXPECT_EQ(run.life.state(), task_state::completed);
    }
}

TEST(Partitions, OfACanceledRunAreNotThoseOfTheNext) {
    lane_bench bench;
    partitioned exchange{bench, 2, 2};
    task& canceled = exchange.start();
    EXPECT_TRUE(exchange.fill(0));
    bench.complete(exchange.group(0));
    bench.the_lane().cancel(canceled);
    bench.run();
    static_cast<void>(bench.carrier().take_started());
    EXPECT_EQ(canceled.life.state(), task_state::canceled);
    task& next = exchange.start();
    EXPECT_TRUE(bench.carrier().take_started().empty());
    EXPECT_TRUE(exchange.fill(0));
    EXPECT_TRUE(exchange.fill(1));
    EXPECT_EQ(bench.carrier().take_started().size(), 2U);
    bench.complete(exchange.group(0));
    bench.complete(exchange.group(1));
    EXPECT_EQ(next.life.state(), task_state::completed);
}

TEST(StandingReceives, AreNotUnfinished) {
    lane_bench bench;
    task& stands = bench.post({.flags = flag_has_handler});
    bench.run();
    EXPECT_EQ(bench.the_lane().scheduled.approx_live(), 1U);
    EXPECT_EQ(bench.the_lane().incomplete.approx_count(), 0U);
    EXPECT_FALSE(bench.the_lane().incomplete.print("nothing is"));
    task& other = bench.post();
    bench.run();
    EXPECT_EQ(bench.the_lane().incomplete.approx_count(), 1U);
    bench.complete(other);
    bench.complete(stands);
    EXPECT_EQ(bench.the_lane().scheduled.approx_handlers(), 0U);
}

} // namespace
} // namespace commtask::detail::testing
