// SPDX-License-Identifier: Apache-2.0
// Cutting the lattice, and saying no to lattices that cannot be cut. Local extents must be even, so that a site's
// parity is the same locally and globally, and at least 4, so that no site is its own neighbour's neighbour by wrap.
#include "geometry.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace dslash {

namespace {

constexpr const char* dimension_names = "XYZT";

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Of positive numbers.
std::int64_t times(std::int64_t a, std::int64_t b) { return a > most / b ? most : a * b; }
std::int64_t plus(std::int64_t a, std::int64_t b) { return a > most - b ? most : a + b; }

bool divides(const coordinates& lattice, const coordinates& grid) {
    for (int mu = 0; mu < n_dimensions; ++mu) {
        if (lattice[mu] % grid[mu] != 0) return false;
        const int local = lattice[mu] / grid[mu];
        if (local < 4 || local % 2 != 0) return false;
    }
    return true;
}

/// Sites on all cut faces of one rank: what the best grid makes small.
std::int64_t face_sites(const coordinates& lattice, const coordinates& grid) {
    std::int64_t sum = 0;
    for (int mu = 0; mu < n_dimensions; ++mu) {
        coordinates face{};
        for (int nu = 0; nu < n_dimensions; ++nu) face[nu] = nu == mu ? 2 : lattice[nu] / grid[nu];
        if (grid[mu] > 1) sum = plus(sum, saturating_product(face));
    }
    return sum;
}

} // namespace

coordinates geometry::local_extents() const {
    coordinates extents{};
    for (int mu = 0; mu < n_dimensions; ++mu) extents[mu] = local_extent(mu);
    return extents;
}

std::int64_t geometry::local_volume() const { return saturating_product(local_extents()); }
std::int64_t geometry::global_volume() const { return saturating_product(lattice); }

coordinates geometry::to_global(const coordinates& local) const {
    coordinates global{};
    for (int mu = 0; mu < n_dimensions; ++mu) global[mu] = position[mu] * local_extent(mu) + local[mu];
    return global;
}

int geometry::neighbour(int direction) const {
    const int mu = direction / 2;
    coordinates other = position;
    const int step = direction % 2 == 0 ? 1 : grid[mu] - 1;
    other[mu] = (position[mu] + step) % grid[mu];
    return static_cast<int>(miniapp::index_of(other, grid));
}

std::int64_t saturating_product(const coordinates& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{1}, times);
}

std::optional<coordinates> choose_grid(const coordinates& lattice, int n_ranks) {
    return miniapp::best_grid<n_dimensions>(n_ranks, [&](const coordinates& grid) {
        return divides(lattice, grid) ? std::optional(face_sites(lattice, grid)) : std::nullopt;
    });
}

coordinates nearest_lattice(const coordinates& lattice, const coordinates& grid) {
    coordinates nearest{};
    for (int mu = 0; mu < n_dimensions; ++mu) {
        const std::int64_t step = 2 * std::int64_t{grid[mu]};
        const std::int64_t below = lattice[mu] / step * step;
        const std::int64_t above = below + step;
        const bool is_below = lattice[mu] - below < above - lattice[mu] || above > std::numeric_limits<int>::max();
        nearest[mu] = static_cast<int>(std::max(2 * step, is_below ? below : above));
    }
    return nearest;
}

std::string refuse_grid(const std::optional<coordinates>& lattice, const coordinates& grid, int n_ranks) {
    const std::int64_t wanted = saturating_product(grid);
    if (wanted == n_ranks) return {};
    // MPI counts its ranks in an int.
    const bool can_be_started = wanted <= std::numeric_limits<int>::max();
    const std::string wanted_text = can_be_started ? std::to_string(wanted) : "more than 2147483647";
    std::string text = "grid " + to_string(grid) + " needs " + wanted_text + " ranks but " + std::to_string(n_ranks) +
                       (n_ranks == 1 ? " was" : " were") + " started; ";
    const auto other =
        choose_grid(lattice.value_or(coordinates{8 * n_ranks, 8 * n_ranks, 8 * n_ranks, 8 * n_ranks}), n_ranks);
    if (other) return text + "nearest that works: --grid " + to_string(*other) + ".";
    return text + (can_be_started ? "start " + wanted_text + " ranks, or " : "") + "choose another lattice.";
}

std::string refusal(const coordinates& lattice, const coordinates& grid, int n_ranks) {
    if (std::string no = refuse_grid(lattice, grid, n_ranks); !no.empty()) return no;
    for (int mu = 0; mu < n_dimensions; ++mu) {
        const std::string name(1, dimension_names[mu]);
        std::string what;
        if (lattice[mu] % grid[mu] != 0) {
            what = "extent " + std::to_string(lattice[mu]) + " in " + name + " cannot be divided among " +
                   std::to_string(grid[mu]) + " ranks";
        } else if (lattice[mu] / grid[mu] % 2 != 0) {
            what = "local extent " + std::to_string(lattice[mu] / grid[mu]) + " in " + name + " is odd";
        } else if (lattice[mu] / grid[mu] < 4) {
            what = "local extent " + std::to_string(lattice[mu] / grid[mu]) + " in " + name + " is below 4";
        } else {
            continue;
        }
        return "lattice " + to_string(lattice) + " on grid " + to_string(grid) + ": " + what +
               "; nearest that works: --lattice " + to_string(nearest_lattice(lattice, grid)) + " --grid " +
               to_string(grid) + ".";
    }
    // Keeps site numbers within the 29 bits of the kernel's tables and faces within the int that MPI counts by.
    if (saturating_product(lattice) / n_ranks > (std::int64_t{1} << 26)) {
        return "lattice " + to_string(lattice) + ": more than 2^26 sites per rank; use more ranks.";
    }
    return {};
}

geometry make_geometry(const coordinates& lattice, const coordinates& grid, int rank, bool force_comm) {
    geometry made{lattice, grid, miniapp::place_of(rank, grid), {}};
    for (int mu = 0; mu < n_dimensions; ++mu) made.communicated[mu] = force_comm || grid[mu] > 1;
    return made;
}

} // namespace dslash
