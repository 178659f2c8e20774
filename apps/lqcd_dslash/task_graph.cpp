// SPDX-License-Identifier: Apache-2.0
// Walks the neighbour table once. Sets are small (a tile touches at most a dozen others), so vectors serve.
// It is made once per lattice and read by every hop, so its cost does not matter and its simplicity does.
#include "task_graph.hpp"

#include <algorithm>

namespace dslash {

namespace {

void insert(std::vector<int>& into, int value) {
    if (std::ranges::find(into, value) == into.end()) into.push_back(value);
}

/// The tile that each vector site belongs to.
std::vector<int> tile_of_site(const layout& shape, const parity_layout& table) {
    std::vector<int> owner(static_cast<std::size_t>(shape.n_sites), -1);
    for (std::size_t k = 0; k < table.tiles.size(); ++k) {
        for (const std::int32_t site : table.tiles[k].sites)
            owner[static_cast<std::size_t>(site)] = static_cast<int>(k);
    }
    return owner;
}

} // namespace

void mean_over_threads(phase_times& times, const std::vector<thread_work>& work, int n_threads) {
    double busy = 0;
    for (const thread_work& w : work) {
        times.internal += w.interior / n_threads;
        busy += (w.interior + w.other) / n_threads;
    }
    times.wait = std::max(0.0, times.total - busy - times.post);
}

std::array<hop_reads, 2> find_reads(const layout& shape) {
    std::array<hop_reads, 2> all;
    for (std::size_t parity = 0; parity < 2; ++parity) {
        const parity_layout& table = shape.parity[parity];
        const std::vector<int> owner = tile_of_site(shape, shape.parity[1 - parity]);
        hop_reads& reads = all[parity];
        for (const tile& t : table.tiles) {
            tile_reads& mine = reads.tiles.emplace_back();
            for (const std::int32_t site : t.sites) {
                for (std::size_t d = 0; d < n_directions; ++d) {
                    const std::uint32_t entry = table.neighbours[static_cast<std::size_t>(site) * n_directions + d];
                    if (static_cast<hop_kind>(entry & hop_entry::kind_mask) == hop_kind::halo) continue;
                    insert(mine.tiles, owner[entry >> hop_entry::site_shift]);
                }
            }
            for (int d = 0; d < n_directions; ++d) {
                if ((t.halos >> d & 1) != 0) mine.directions.push_back(d);
            }
        }
        for (std::size_t d = 0; d < n_directions; ++d) {
            for (const std::int32_t site : shape.parity[1 - parity].face[d]) {
                insert(reads.packs[d], owner[static_cast<std::size_t>(site)]);
            }
        }
    }
    return all;
}

} // namespace dslash
