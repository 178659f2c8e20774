// SPDX-License-Identifier: Apache-2.0
// The global lattice, the grid of ranks that cuts it, and the part that one rank holds.
// Lattices that the kernel cannot hold are refused here, before anything is allocated or sent, in one sentence that
// names the nearest lattice that works. Directions: 2*mu is the neighbour at x+mu, 2*mu+1 the one at x-mu.
#pragma once

#include "common/extents.hpp"

namespace dslash {

using miniapp::to_string;

inline constexpr int n_dimensions = 4;
inline constexpr int n_directions = 8;

/// X, Y, Z, T in this order; X runs fastest in every linear index.
using coordinates = std::array<int, n_dimensions>;

struct geometry {
    coordinates lattice{};  ///< Global extents.
    coordinates grid{};     ///< Ranks per dimension.
    coordinates position{}; ///< This rank's place in the grid.
    /// Dimension mu is exchanged by messages: it is cut by the grid, or `force_comm` asks for it.
    std::array<bool, n_dimensions> communicated{};

    int local_extent(int mu) const { return lattice[mu] / grid[mu]; }
    coordinates local_extents() const;
    std::int64_t local_volume() const;
    std::int64_t global_volume() const;
    /// Global coordinates of a local site.
    coordinates to_global(const coordinates& local) const;
    /// Rank of the neighbour in `direction`; the rank itself where the dimension is not cut.
    int neighbour(int direction) const;
};

/// The grid for `n_ranks` with the smallest faces, cutting T before Z before Y before X; nothing when none fits.
std::optional<coordinates> choose_grid(const coordinates& lattice, int n_ranks);

/// The product, or the largest number where that is larger.
std::int64_t saturating_product(const coordinates& values);

/// Empty when the grid has `n_ranks` ranks; otherwise one sentence with the nearest that works, which is of the lattice where
/// one is given.
std::string refuse_grid(const std::optional<coordinates>& lattice, const coordinates& grid, int n_ranks);

/// Empty when every local extent is even and at least 4 and the grid has `n_ranks` ranks; otherwise one sentence that
/// says what is wrong and the nearest that works.
std::string refusal(const coordinates& lattice, const coordinates& grid, int n_ranks);

/// The extents nearest to `lattice` that `grid` can cut.
coordinates nearest_lattice(const coordinates& lattice, const coordinates& grid);

geometry make_geometry(const coordinates& lattice, const coordinates& grid, int rank, bool force_comm);

} // namespace dslash
