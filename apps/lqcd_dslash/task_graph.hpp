// SPDX-License-Identifier: Apache-2.0
// Who reads what: the dependences of one hop, as addresses for depend clauses. Worked out once from the neighbour
// table, so that each task names exactly the tiles that it reads and no more.
#pragma once

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

/// For output parity 0 and 1.
std::array<hop_reads, 2> find_reads(const layout& shape);

} // namespace dslash
