// SPDX-License-Identifier: Apache-2.0
// Builds the tables. Both sides of a face walk it in the order of their own site numbers; since those differ only in
// the coordinate that is constant on the face, the orders agree and no index is ever sent.
#include "layout.hpp"

#include <algorithm>
#include <limits>

namespace dslash {

namespace {

/// Vector site of a reduced coordinate; parity drops out by halving x.
std::int32_t vector_index(const coordinates& site, const coordinates& reduced) {
    const int half = reduced[0] / 2;
    return site[0] / 2 + half * (site[1] + reduced[1] * (site[2] + reduced[2] * site[3]));
}

coordinates reduced_site(int parity, std::int32_t index, const coordinates& reduced) {
    coordinates site{};
    const int half = reduced[0] / 2;
    const int column = index % half;
    index /= half;
    site[1] = index % reduced[1];
    index /= reduced[1];
    site[2] = index % reduced[2];
    site[3] = index / reduced[2];
    site[0] = 2 * column + (site[1] + site[2] + site[3] + parity) % 2;
    return site;
}

int reduced_parity(const coordinates& site) { return (site[0] + site[1] + site[2] + site[3]) % 2; }

struct neighbour_of {
    coordinates site;
    bool wraps;
};

neighbour_of step(const coordinates& site, int direction, const coordinates& reduced) {
    const int mu = direction / 2;
    coordinates next = site;
    const int last = reduced[mu] - 1;
    if (direction % 2 == 0) {
        next[mu] = site[mu] == last ? 0 : site[mu] + 1;
        return {next, site[mu] == last};
    }
    next[mu] = site[mu] == 0 ? last : site[mu] - 1;
    return {next, site[mu] == 0};
}

void fill_neighbours(const layout& shape, int parity, parity_layout& table) {
    std::array<std::int32_t, n_directions> next_halo{};
    const auto n = static_cast<std::size_t>(shape.n_sites);
    table.neighbours.resize(n * n_directions);
    table.halo_index.assign(n * n_directions, -1);
    for (std::int32_t s = 0; s < shape.n_sites; ++s) {
        const coordinates site = reduced_site(parity, s, shape.reduced);
        for (int d = 0; d < n_directions; ++d) {
            const int mu = d / 2;
            const auto at = static_cast<std::size_t>(s) * n_directions + static_cast<std::size_t>(d);
            const auto [next, wraps] = step(site, d, shape.reduced);
            hop_kind kind = hop_kind::aligned;
            if (wraps && shape.geom.communicated[mu]) {
                kind = shape.lanes[mu] == 1 ? hop_kind::halo : hop_kind::merged;
                table.halo_index[at] = next_halo[d]++;
            } else if (wraps && shape.lanes[mu] > 1) {
                kind = hop_kind::wrapped;
            }
            auto entry = static_cast<std::uint32_t>(vector_index(next, shape.reduced)) << hop_entry::site_shift;
            entry |= static_cast<std::uint32_t>(kind);
            const int global_t = shape.geom.position[3] * shape.geom.local_extent(3) + site[3];
            const int crossing = d == 6 ? shape.geom.lattice[3] - 1 : 0;
            if (mu == 3 && global_t == crossing) entry |= hop_entry::negative_bit;
            table.neighbours[at] = entry;
        }
    }
}

void fill_faces(const layout& shape, int parity, parity_layout& table) {
    for (std::int32_t s = 0; s < shape.n_sites; ++s) {
        const coordinates site = reduced_site(parity, s, shape.reduced);
        for (int d = 0; d < n_directions; ++d) {
            const int mu = d / 2;
            if (!shape.geom.communicated[mu]) continue;
            // The neighbour at -mu looks forward and sees our first slice; the one at +mu looks back at our last.
            const int edge = d % 2 == 0 ? 0 : shape.reduced[mu] - 1;
            if (site[mu] != edge) continue;
            table.face[d].push_back(s);
        }
    }
}

void fill_tiles(const layout& shape, int parity, parity_layout& table) {
    std::vector<tile> interior(static_cast<std::size_t>(shape.n_blocks));
    std::vector<tile> boundary(static_cast<std::size_t>(shape.n_blocks));
    for (std::int32_t s = 0; s < shape.n_sites; ++s) {
        const auto block = static_cast<std::size_t>(shape.block_of(reduced_site(parity, s, shape.reduced)));
        std::uint8_t halos = 0;
        for (int d = 0; d < n_directions; ++d) {
            if (table.halo_index[static_cast<std::size_t>(s) * n_directions + static_cast<std::size_t>(d)] >= 0) {
                halos = static_cast<std::uint8_t>(halos | (1U << d));
            }
        }
        tile& into = halos == 0 ? interior[block] : boundary[block];
        into.block = static_cast<int>(block);
        into.halos = static_cast<std::uint8_t>(into.halos | halos);
        into.sites.push_back(s);
    }
    for (auto* list : {&interior, &boundary}) {
        for (tile& t : *list) {
            if (!t.sites.empty()) table.tiles.push_back(std::move(t));
        }
        if (list == &interior) table.n_interior_tiles = static_cast<int>(table.tiles.size());
    }
}

/// The largest divisor of `extent` that is at most `wanted`.
int divisor_up_to(int extent, int wanted) {
    int best = 1;
    for (int d = 1; d <= std::min(extent, wanted); ++d) {
        if (extent % d == 0) best = d;
    }
    return best;
}

/// Blocks of about this many vector sites are worth a task of their own: some tens of microseconds.
constexpr int wanted_block_sites = 128;
/// So that threads which finish early find something.
constexpr int wanted_blocks_per_thread = 2;

coordinates choose_block(const layout& shape, int tile_t, int tile_z, int n_threads) {
    const coordinates& r = shape.reduced;
    const int row_sites = r[0] / 2 * r[1];
    coordinates block = r;
    block[3] = divisor_up_to(r[3], tile_t != 0 ? tile_t : std::max(1, wanted_block_sites / (row_sites * r[2])));
    block[2] = divisor_up_to(r[2], tile_z != 0 ? tile_z : std::max(1, 2 * wanted_block_sites / (row_sites * block[3])));
    const auto is_coarse = [&] { return r[2] / block[2] * (r[3] / block[3]) < wanted_blocks_per_thread * n_threads; };
    while (tile_t == 0 && block[3] > 1 && is_coarse()) block[3] = divisor_up_to(r[3], block[3] - 1);
    while (tile_z == 0 && block[2] > 1 && is_coarse()) block[2] = divisor_up_to(r[2], block[2] - 1);
    return block;
}

} // namespace

coordinates layout::lane_position(int lane) const { return miniapp::place_of(lane, lanes); }
int layout::lane_of(const coordinates& position) const { return static_cast<int>(miniapp::index_of(position, lanes)); }

site_place layout::place(const coordinates& local) const {
    coordinates site{};
    coordinates lane{};
    for (int mu = 0; mu < n_dimensions; ++mu) {
        site[mu] = local[mu] % reduced[mu];
        lane[mu] = local[mu] / reduced[mu];
    }
    return {reduced_parity(site), vector_index(site, reduced), lane_of(lane)};
}

coordinates layout::local_site(int parity_, std::int32_t vector_site, int lane) const {
    coordinates site = reduced_site(parity_, vector_site, reduced);
    const coordinates position = lane_position(lane);
    for (int mu = 0; mu < n_dimensions; ++mu) site[mu] += position[mu] * reduced[mu];
    return site;
}

int layout::block_of(const coordinates& site) const {
    return site[2] / block[2] + reduced[2] / block[2] * (site[3] / block[3]);
}

std::optional<coordinates> choose_lanes(const geometry& geom, int n_lanes) {
    std::optional<coordinates> best;
    int best_cost = std::numeric_limits<int>::max();
    for (int x = 1; x <= n_lanes; x *= 2) {
        for (int y = 1; x * y <= n_lanes; y *= 2) {
            const coordinates lanes{x, y, n_lanes / x / y, 1};
            int cost = 0;
            bool fits = true;
            for (int mu = 0; mu < 3; ++mu) {
                fits = fits && geom.local_extent(mu) % (2 * lanes[mu]) == 0;
                if (lanes[mu] > 1) cost += geom.communicated[mu] ? 4 : 1;
                if (lanes[mu] > 2) cost += lanes[mu];
            }
            if (fits && cost <= best_cost) {
                best_cost = cost;
                best = lanes;
            }
        }
    }
    return best;
}

layout make_layout(const geometry& geom, int n_lanes, int tile_t, int tile_z, int n_threads) {
    layout shape;
    shape.geom = geom;
    shape.n_lanes = n_lanes;
    shape.lanes = choose_lanes(geom, n_lanes).value();
    for (int mu = 0; mu < n_dimensions; ++mu) shape.reduced[mu] = geom.local_extent(mu) / shape.lanes[mu];
    shape.n_sites = static_cast<std::int32_t>(geom.local_volume() / 2 / n_lanes);
    shape.block = choose_block(shape, tile_t, tile_z, n_threads);
    shape.n_blocks = shape.reduced[2] / shape.block[2] * (shape.reduced[3] / shape.block[3]);
    for (int parity = 0; parity < 2; ++parity) {
        parity_layout& table = shape.parity[parity];
        fill_neighbours(shape, parity, table);
        fill_faces(shape, parity, table);
        fill_tiles(shape, parity, table);
    }
    return shape;
}

} // namespace dslash
