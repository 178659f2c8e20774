// SPDX-License-Identifier: Apache-2.0
// The sizes of one transform, in the letters of the derivation (README), and what must hold between them. Checked
// before anything is allocated; every refusal names the nearest sizes that work.
#pragma once

#include "window.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace soi {

using index_type = std::int64_t;

/// Of one rank's input; a list of them is made before anything can be refused for its memory.
inline constexpr int most_chunks = 1 << 16;

/// What was asked for.
struct problem {
    index_type n_points = 0; ///< N.
    int n_ranks = 1;         ///< P.
    int n_segments = 8;      ///< k, per rank.
    int n_chunks = 0;        ///< C; 0: chosen so that messages have at least 128 KiB.
    int n_pieces = 1;        ///< Pieces of a chunk that threads can share.
    window_parameters window;
};

/// Why this problem cannot be solved, with what can; empty when it can.
std::string refusal(const problem& asked);

struct shape {
    index_type n_points;       ///< N
    int n_ranks;               ///< P
    int n_segments;            ///< k
    int all_segments;          ///< S = k P: samples per row, and segments of the spectrum
    index_type segment_points; ///< M = N / S: bins of one segment
    index_type rows;           ///< L = M / P: rows of this rank
    index_type long_segment;   ///< M' = mu M
    index_type long_rows;      ///< L' = mu L: values q of this rank
    window_parameters window;
    index_type groups;                   ///< L / d: groups of n values q
    int tile_groups;                     ///< Groups that one call of the kernel makes.
    index_type n_tiles;                  ///< The last may have fewer groups.
    int n_pieces;                        ///< Of every chunk.
    std::vector<index_type> chunk_tiles; ///< C + 1 borders, in tiles.

    int n_chunks() const { return static_cast<int>(chunk_tiles.size()) - 1; }
    index_type points_per_rank() const { return n_points / n_ranks; }
    index_type halo_points() const { return static_cast<index_type>(window.width) * all_segments; }
    /// First tile that needs rows of the right neighbour.
    index_type first_halo_tile() const;
    /// First q of a tile; long_rows for n_tiles.
    index_type first_q(index_type tile) const;
};

/// `asked` must have passed refusal().
shape make_shape(const problem& asked, std::size_t complex_bytes);

/// Bytes that one rank holds beside tables; `in_place` when y is x.
double memory_bytes(const shape& of, std::size_t complex_bytes, bool in_place);

} // namespace soi
