// SPDX-License-Identifier: Apache-2.0
// A network of leaky integrate-and-fire cells, cut among the ranks. Connections are a function of their number, so each rank makes the ones
// into its own cells without a message, and a network is the same on any number of ranks. Weights are integers, which add up to the same
// sum in any order: the time of a spike decides what it does, and the order of arrivals does not. The price is a coarse weight.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spikes {

/// Times are in steps of 1/8 ms. An interval, 1 ms, is the least delay of a connection: no spike acts in the interval in which it is fired.
inline constexpr int steps_per_interval = 8;

/// The same 16 bytes as in NEURON's multisend, a cell and a time.
struct spike {
    double time;
    std::int64_t cell;
    friend bool operator==(const spike&, const spike&) = default;
};

struct model {
    int n_cells = 4000;
    int n_targets = 100; ///< Of each cell.
    int reach = 0;       ///< Targets are at most so many cells away, round the end; 0: anywhere.
    int n_ranks = 1;
    int n_blocks = 0; ///< Of each rank.
};

struct range {
    int first, count;
};
[[nodiscard]] range share(range of, int n_parts, int part);

/// Neighbouring cells of a rank, which one thread at a time advances, with the connections into them.
class block {
public:
    block(const model& of, range cells);
    void reset();
    /// Adds what spikes of the last interval bring. A cell or time that was changed on its way must not become a place in memory.
    void deliver(std::span<const spike> from);
    /// So many steps; gives what the cells fire.
    void advance(int n_steps, std::vector<spike>& fired);
    [[nodiscard]] const std::vector<spike>& raster() const { return raster_; } ///< Since reset().
    [[nodiscard]] int n_synapses_of(int cell) const { return rows_[cell + 1] - rows_[cell]; }

private:
    struct synapse {
        int target; ///< From the first cell of the block.
        std::int16_t sixteenths;
        std::int16_t weight;
    };
    /// Steps whose input is collected: a power of two, more than an interval and the longest delay.
    static constexpr int n_ahead = 32;
    [[nodiscard]] std::int32_t* input(int step) { return &input_[(step % n_ahead) * potential_.size()]; }

    int first_;
    double unit_; ///< What a weight of 1 adds to a potential.
    int now_ = 0;
    std::vector<double> potential_, drive_;
    std::vector<std::int32_t> input_;
    std::vector<std::int32_t> rows_; ///< Of each cell of the network: where its synapses begin.
    std::vector<synapse> synapses_;
    std::vector<spike> raster_;
};

/// A rank's part.
class network {
public:
    network(const model& of, int rank);
    [[nodiscard]] const model& what() const { return model_; }
    [[nodiscard]] std::vector<block>& blocks() { return blocks_; }
    /// Ranks other than this one where an own cell has targets. They stay the same: a multicast may point to them.
    [[nodiscard]] std::span<const int> dests(std::int64_t cell) const;
    [[nodiscard]] std::vector<spike> raster() const;

private:
    model model_;
    range cells_;
    std::vector<block> blocks_;
    std::vector<int> dests_;
    std::vector<std::size_t> dests_at_;
};

/// A number that has every bit of a spike, and the sum of them.
[[nodiscard]] std::uint64_t print_of(const spike& each);
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const spike> all);
/// What so many steps of the whole network fire, by one thread that puts each spike at once where it acts.
[[nodiscard]] std::vector<spike> fired_serially(const model& of, int n_steps);

} // namespace spikes
