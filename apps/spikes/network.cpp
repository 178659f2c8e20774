// SPDX-License-Identifier: Apache-2.0
// A cell's potential goes to its drive, beyond the threshold, with a time constant of 10 ms, so that alone it fires every 10 to 20 ms.
// Compiled without fused multiply-add: a block and the serial run have the same bits, whatever the compiler makes of either loop.
#include "network.hpp"

#include "common/report.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace spikes {

namespace {

constexpr double ms = steps_per_interval;
constexpr double time_constant = 10 * ms, threshold = 1;

/// From 0 to less than 1.
double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
double decay() { return std::exp(-1 / time_constant); }
double first_potential(int cell) { return uniform(miniapp::splitmix64(2ULL * cell)); }
/// What a step adds, where alone the cell has a period from 10 to 20 ms.
double drive_of(int cell) {
    const double period = ms * (10 + 10 * uniform(miniapp::splitmix64(2ULL * cell + 1)));
    return (1 - decay()) / (1 - std::exp(-period / time_constant));
}
/// The more targets, the weaker: how strongly the network acts on a cell does not depend on it.
double unit_of(const model& of) { return 0.05 / 32 / std::sqrt(of.n_targets); }
/// When the potential passes the threshold within a step.
double time_of(int step, double before, double after) { return step + (threshold - before) / (after - before); }

struct connection {
    int target;
    double delay; ///< From one interval to less than two.
    int weight;
};

connection connection_of(const model& of, int cell, int k) {
    const auto number = static_cast<std::uint64_t>(cell) * of.n_targets + k;
    const std::uint64_t bits = miniapp::splitmix64(~number);
    const std::uint64_t n_near = of.reach == 0 ? of.n_cells : 2 * of.reach + 1;
    const auto away = static_cast<int>((bits >> 32) * n_near >> 32);
    const int first = of.reach == 0 ? 0 : cell - of.reach + of.n_cells;
    const int excites = 1 + static_cast<int>(bits & 31);
    return {(first + away) % of.n_cells, steps_per_interval * (1 + static_cast<double>(bits >> 8 & 127) / 128),
            cell % 5 == 0 ? -4 * excites : excites};
}

} // namespace

range share(range of, int n_parts, int part) {
    const auto first = [&](int k) {
        return of.first + static_cast<int>(static_cast<long long>(of.count) * k / n_parts);
    };
    return {first(part), first(part + 1) - first(part)};
}

block::block(const model& of, range cells)
    : first_(cells.first), unit_(unit_of(of)), potential_(cells.count), input_(cells.count * std::size_t{n_ahead}),
      rows_(1) {
    for (int c = 0; c < cells.count; ++c) drive_.push_back(drive_of(cells.first + c));
    for (int cell = 0; cell < of.n_cells; ++cell) {
        for (int k = 0; k < of.n_targets; ++k) {
            const auto [target, delay, weight] = connection_of(of, cell, k);
            if (target < cells.first || target >= cells.first + cells.count) continue;
            synapses_.push_back(
                {target - cells.first, static_cast<std::int16_t>(16 * delay), static_cast<std::int16_t>(weight)});
        }
        rows_.push_back(static_cast<std::int32_t>(synapses_.size()));
    }
    reset();
}

void block::reset() {
    now_ = 0;
    raster_.clear();
    std::ranges::fill(input_, 0);
    for (std::size_t c = 0; c < potential_.size(); ++c) potential_[c] = first_potential(first_ + static_cast<int>(c));
}

void block::deliver(std::span<const spike> from) {
    for (const spike& each : from) {
        const bool is_good = each.time > now_ - steps_per_interval && each.time <= now_ && each.cell >= 0;
        if (!is_good || each.cell + 1 >= std::ssize(rows_)) continue;
        for (std::int32_t k = rows_[each.cell]; k < rows_[each.cell + 1]; ++k) {
            const synapse& to = synapses_[k];
            input(static_cast<int>(each.time + to.sixteenths / 16.0))[to.target] += to.weight;
        }
    }
}

void block::advance(int n_steps, std::vector<spike>& fired) {
    const double kept = decay();
    fired.clear();
    for (const int end = now_ + n_steps; now_ < end; ++now_) {
        std::int32_t* const in = input(now_);
        for (std::size_t c = 0; c < potential_.size(); ++c) {
            const double before = potential_[c];
            const double after = before * kept + (drive_[c] + unit_ * in[c]);
            in[c] = 0;
            potential_[c] = after < threshold ? after : 0;
            if (after >= threshold) fired.push_back({time_of(now_, before, after), first_ + static_cast<int>(c)});
        }
    }
    raster_.insert(raster_.end(), fired.begin(), fired.end());
}

network::network(const model& of, int rank) : model_(of), cells_(share({0, of.n_cells}, of.n_ranks, rank)) {
    for (int b = 0; b < of.n_blocks; ++b) blocks_.emplace_back(of, share(cells_, of.n_blocks, b));
    std::vector<int> owners;
    for (int r = 0; r < of.n_ranks; ++r) owners.resize(owners.size() + share({0, of.n_cells}, of.n_ranks, r).count, r);
    std::vector<int> last(of.n_ranks, -1); // the last cell that has targets there
    for (int c = 0; c < cells_.count; ++c) {
        dests_at_.push_back(dests_.size());
        for (int k = 0; k < of.n_targets; ++k) {
            const int to = owners[connection_of(of, cells_.first + c, k).target];
            if (to != rank && std::exchange(last[to], c) != c) dests_.push_back(to);
        }
    }
    dests_at_.push_back(dests_.size());
}

std::span<const int> network::dests(std::int64_t cell) const {
    const std::size_t at = cell - cells_.first;
    return std::span(dests_).subspan(dests_at_[at], dests_at_[at + 1] - dests_at_[at]);
}

std::vector<spike> network::raster() const {
    std::vector<spike> all;
    for (const block& each : blocks_) all.insert(all.end(), each.raster().begin(), each.raster().end());
    return all;
}

std::uint64_t print_of(const spike& each) { return miniapp::print_of(each.time, each.cell); }
std::uint64_t fingerprint_of(std::span<const spike> all) {
    std::uint64_t sum = 0;
    for (const spike& each : all) sum += print_of(each);
    return sum;
}

std::vector<spike> fired_serially(const model& of, int n_steps) {
    const double kept = decay();
    const double unit = unit_of(of);
    std::vector<double> potential(of.n_cells);
    for (int cell = 0; cell < of.n_cells; ++cell) potential[cell] = first_potential(cell);
    // What each step brings to each cell; no spike acts later than two intervals and a step after it was fired.
    std::array<std::vector<int>, 3 * steps_per_interval> input;
    input.fill(std::vector<int>(of.n_cells));
    std::vector<spike> raster;
    for (int step = 0; step < n_steps; ++step) {
        for (int cell = 0; cell < of.n_cells; ++cell) {
            const double before = potential[cell];
            const int in = std::exchange(input[step % input.size()][cell], 0);
            potential[cell] = before * kept + (drive_of(cell) + unit * in);
            if (potential[cell] < threshold) continue;
            const spike& now = raster.emplace_back(time_of(step, before, potential[cell]), cell);
            potential[cell] = 0;
            for (int k = 0; k < of.n_targets; ++k) {
                const connection to = connection_of(of, cell, k);
                input[static_cast<std::size_t>(now.time + to.delay) % input.size()][to.target] += to.weight;
            }
        }
    }
    return raster;
}

} // namespace spikes
