// SPDX-License-Identifier: Apache-2.0
// Where every site lives. SIMD lanes are virtual nodes: each of X, Y, Z may be split over the lanes as if every lane
// were a small rank, so nearly all neighbours are in the same lane of another vector and only the edges of the
// sub-lattices need their lanes permuted. T is never split: T tiles and T faces need no lane work at all.
// A "vector site" is one vector of sites, one per lane, all of the same parity.
#pragma once

#include "geometry.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dslash {

/// How a site gets its neighbour in one direction.
enum class hop_kind : std::uint8_t {
    aligned, ///< Local, in the same lanes.
    wrapped, ///< Local, lanes permuted: the edge of the lanes' sub-lattice.
    halo,    ///< All lanes from the halo.
    merged,  ///< The lanes at the rank's edge from the halo, the others as in `wrapped`.
};

/// One entry of the neighbour table, packed: vector site, hop_kind, and whether the antiperiodic sign applies.
struct hop_entry {
    static constexpr std::uint32_t kind_mask = 3;
    static constexpr std::uint32_t negative_bit = 4;
    static constexpr int site_shift = 3;
};

/// A set of vector sites of one output parity that is computed in one go.
struct tile {
    int block;                       ///< The (T, Z) block that it belongs to.
    std::uint8_t halos;              ///< Bit d: some site needs halo d. 0: an interior tile.
    std::vector<std::int32_t> sites; ///< Ascending vector sites.
};

/// What of the layout depends on the output parity.
struct parity_layout {
    std::vector<std::uint32_t> neighbours;                    ///< [site][direction], hop_entry packed.
    std::vector<std::int32_t> halo_index;                     ///< [site][direction], or -1.
    std::array<std::vector<std::int32_t>, n_directions> face; ///< Sites of this parity that are packed for d.
    std::vector<tile> tiles;                                  ///< Interior tiles first.
    int n_interior_tiles = 0;
};

/// A site's place in memory.
struct site_place {
    int parity;
    std::int32_t vector_site;
    int lane;
};

struct layout {
    geometry geom;
    int n_lanes = 1;
    coordinates lanes{1, 1, 1, 1}; ///< Lanes per dimension.
    coordinates reduced{};         ///< Extents of one lane's sub-lattice.
    std::int32_t n_sites = 0;      ///< Vector sites of one parity.
    coordinates block{};           ///< Extents of a tile's block, in reduced coordinates (X, Y whole).
    int n_blocks = 0;
    std::array<parity_layout, 2> parity;

    /// Lanes that one face vector carries: all, or those at the edge of the rank.
    int face_lanes(int direction) const { return n_lanes / lanes[direction / 2]; }
    /// Lane coordinates and the reverse.
    coordinates lane_position(int lane) const;
    int lane_of(const coordinates& position) const;

    site_place place(const coordinates& local) const;
    coordinates local_site(int parity, std::int32_t vector_site, int lane) const;
    int block_of(const coordinates& reduced_site) const;
};

/// Lanes per dimension for `n_lanes`, or nothing where the local extents have no such split (every reduced extent must
/// stay even). Splits of dimensions that are not communicated are preferred, then even splits.
std::optional<coordinates> choose_lanes(const geometry& geom, int n_lanes);

/// `tile_t`, `tile_z`: extents of a block; 0 chooses them so that there are some tiles per thread.
layout make_layout(const geometry& geom, int n_lanes, int tile_t, int tile_z, int n_threads);

} // namespace dslash
