// SPDX-License-Identifier: Apache-2.0
// Every mode with every exchange, on every number of ranks, fires the spikes of the serial run, each at the same bits of time; and a cell alone
// fires when the formula says. A spike that acts a step too late, or twice, changes when others fire.
#include "common/runtime_session.hpp"
#include "exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace spikes {
namespace {

constexpr int n_intervals = 60;

/// The spikes of all ranks, on rank 0, in the order of time and cell.
std::vector<spike> gathered(const std::vector<spike>& mine, int n_ranks) {
    auto n_bytes = static_cast<int>(mine.size() * sizeof(spike));
    std::vector<int> counts(static_cast<std::size_t>(n_ranks));
    std::vector<int> places(counts.size());
    MPI_Gather(&n_bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    std::vector<spike> all(static_cast<std::size_t>(places.back() + counts.back()) / sizeof(spike));
    MPI_Gatherv(mine.data(), n_bytes, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    return all;
}

std::vector<spike> sorted(std::vector<spike> all) {
    std::ranges::sort(all, {}, [](const spike& each) { return std::pair(each.time, each.cell); });
    return all;
}

class Modes : public testing::TestWithParam<int> {};

TEST_P(Modes, FireTheSpikesOfTheSerialRunByEveryExchange) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(GetParam())];
    const miniapp::runtime_session runtime(how.has_worker);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (const auto& [n_targets, reach] : {std::pair{1, 0}, {30, 0}, {10, 9}, {1000, 0}}) {
        const model of{.n_cells = 101, .n_targets = n_targets, .reach = reach, .n_ranks = n_ranks, .n_blocks = 3};
        const std::vector<spike> serial = sorted(fired_serially(of, n_intervals * steps_per_interval));
        for (const exchange_kind kind : {exchange_kind::allgather, exchange_kind::halves, exchange_kind::multicast}) {
            if (kind == exchange_kind::multicast && !how.has_worker) continue;
            network on(of, rank);
            exchange by(on, kind, MPI_COMM_WORLD, how.has_worker);
            const int n_cores =
                n_ranks > 2 ? 1 : 3; // on oversubscribed cores every part and every thread takes milliseconds
            const auto runner = how.make(by.parts(), n_cores);
            for (const int n : {n_intervals / 3, n_intervals}) { // the second run begins as the first one did
                by.reset();
                runner->run(n * by.parts_per_interval());
                by.finish(n * by.parts_per_interval());
            }
            by.end();
            const std::string what =
                std::to_string(n_targets) + " targets, exchange " + std::to_string(static_cast<int>(kind));
            EXPECT_EQ(miniapp::sum_of(by.left_of_messages(), MPI_COMM_WORLD), 0U) << what;
            const std::vector<spike> all = sorted(gathered(on.raster(), n_ranks));
            if (rank != 0) continue;
            EXPECT_GT(all.size(), 100U);
            EXPECT_TRUE(all == serial) << what << ": " << all.size() << " spikes, serially " << serial.size();
        }
    }
}

TEST(Network, SendsToTheRanksThatHaveTargetsAndToNoOther) {
    constexpr int n_ranks = 20;
    const model of{.n_cells = 400, .n_targets = 8, .reach = 30, .n_ranks = n_ranks, .n_blocks = 1};
    std::vector<network> ranks;
    for (int r = 0; r < n_ranks; ++r) ranks.emplace_back(of, r);
    for (int r = 0; r < n_ranks; ++r) {
        const range own = share({0, of.n_cells}, n_ranks, r);
        for (int cell = own.first; cell < own.first + own.count; ++cell) {
            const auto dests = ranks[static_cast<std::size_t>(r)].dests(cell);
            for (int to = 0; to < n_ranks; ++to) {
                const bool has_targets = ranks[static_cast<std::size_t>(to)].blocks().front().n_synapses_of(cell) > 0;
                EXPECT_EQ(std::ranges::count(dests, to), has_targets && to != r ? 1 : 0) << cell << " " << to;
            }
        }
    }
}

TEST(Network, LosesNoSpikeUnseen) {
    const model of{.n_cells = 101, .n_targets = 30, .n_ranks = 1, .n_blocks = 1};
    network on(of, 0);
    std::vector<spike> fired;
    const auto run = [&](int lost) {
        on.blocks().front().reset();
        fired.clear();
        std::int64_t n = 0; // that were fired before
        for (int k = 0; k < n_intervals; ++k) {
            const std::int64_t n_now = std::ssize(fired);
            if (lost >= n && lost < n + n_now) fired.erase(fired.begin() + (lost - n));
            n += n_now;
            on.blocks().front().deliver(fired);
            on.blocks().front().advance(steps_per_interval, fired);
        }
        return fingerprint_of(on.raster());
    };
    const std::uint64_t whole = run(-1);
    EXPECT_EQ(whole, fingerprint_of(fired_serially(of, n_intervals * steps_per_interval)));
    for (const int lost : {0, 1, 50, 100}) EXPECT_NE(run(lost), whole) << lost;
}

TEST(Network, BringsNothingOfASpikeThatWasChangedOnItsWay) {
    const model of{.n_cells = 50, .n_targets = 30, .n_ranks = 1, .n_blocks = 1};
    block changed(of, {0, 50});
    block without(of, {0, 50});
    std::vector<spike> fired;
    changed.deliver(std::vector<spike>{
        {1, 50}, {1, -1}, {1, INT64_MAX}, {1, INT64_MIN}, {1e300, 3}, {-1e300, 3}, {1, 3}, {NAN, 3}});
    for (int k = 0; k < n_intervals; ++k) {
        changed.advance(steps_per_interval, fired);
        without.advance(steps_per_interval, fired);
    }
    EXPECT_TRUE(changed.raster() == without.raster());
}

TEST(Network, FiresAsTheFormulaSaysWithoutInput) {
    // No spike is delivered: each cell has its own constant drive, and v(t) = drive (1 - exp(-t / 10 ms)) gives a constant period.
    const model of{.n_cells = 50, .n_targets = 1, .n_ranks = 1, .n_blocks = 1};
    block cells(of, {0, 50});
    std::vector<spike> fired;
    for (int k = 0; k < 100; ++k) cells.advance(steps_per_interval, fired);
    for (int cell = 0; cell < of.n_cells; ++cell) {
        std::vector<double> times;
        for (const spike& each : cells.raster()) {
            if (each.cell == cell) times.push_back(each.time / steps_per_interval);
        }
        ASSERT_GE(times.size(), 4U);
        const double period = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
        EXPECT_GE(period, 10.0);
        EXPECT_LE(period, 20.2); // a period ends with a step
        for (std::size_t k = 1; k < times.size(); ++k) EXPECT_NEAR(times[k] - times[k - 1], period, 0.13);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::Range(0, static_cast<int>(miniapp::modes().size())),
                         [](const auto& instance) {
                             return std::string(miniapp::modes()[static_cast<std::size_t>(instance.param)].name);
                         });

} // namespace
} // namespace spikes
