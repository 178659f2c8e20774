// SPDX-License-Identifier: Apache-2.0
// Who reads what: the dependences of one hop, from which mode omp makes depend clauses and mode tbb counts. Worked out once
// from the neighbour table, so that each task waits for exactly the tiles that it reads and no more.
#pragma once

#include "exchange.hpp"
#include "stencil.hpp"

#include <vector>

namespace dslash {

/// Addresses that stand for data in depend clauses; nothing is stored there.
using address = const char*;

/// What one tile of a hop depends on, as indices.
struct tile_reads {
    std::vector<int> tiles;      ///< Tiles of the other parity.
    std::vector<int> directions; ///< Halos.
};

struct hop_reads {
    std::vector<tile_reads> tiles;                    ///< Per tile of the output parity.
    std::array<std::vector<int>, n_directions> packs; ///< Tiles of the input parity that face d lies in.
};

/// Seconds of work of one thread; each thread writes its own line.
struct alignas(64) thread_work {
    double interior = 0;
    double other = 0;
};

/// Columns as means over the compute threads, beside `total` and `post` of `times`. What is neither work nor posting is
/// waiting for messages, or for tiles of other threads.
void mean_over_threads(phase_times& times, const std::vector<thread_work>& work, int n_threads);

/// For output parity 0 and 1.
std::array<hop_reads, 2> find_reads(const layout& shape);

} // namespace dslash
