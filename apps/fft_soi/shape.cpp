// SPDX-License-Identifier: Apache-2.0
// N must be a multiple of d k P^2, so that ranks' borders fall on borders of groups, and at least B k P^2, so that the
// halo comes from one neighbour. Powers of two do both for mu = 5/4 as soon as N >= B k P^2.
#include "shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace soi {

namespace {

/// Largest N that a plan may have: its bytes must be countable.
constexpr index_type largest_n = index_type{1} << 58;
constexpr int most_segments = 4096; // per rank

/// The multiple of `unit` at least `least` that is nearest to `wanted`.
index_type nearest_multiple(index_type wanted, index_type unit, index_type least) {
    const index_type low = wanted / unit * unit;
    const index_type nearest = wanted - low < unit - (wanted - low) ? low : low + unit;
    return std::max(nearest, (least + unit - 1) / unit * unit);
}

bool fits(index_type n_points, int n_ranks, index_type n_segments, const window_parameters& w) {
    const index_type square = n_segments * n_ranks * n_ranks;
    return n_segments * n_ranks >= 2 && n_points % (w.d * square) == 0 && n_points >= w.width * square;
}

/// The k nearest to `wanted` with which N works on P ranks; 0 if there is none.
index_type nearest_segments(const problem& p) {
    const index_type most = std::min<index_type>(most_segments, p.n_points / p.window.width / p.n_ranks / p.n_ranks);
    for (index_type away = 1; away <= std::max<index_type>(most, p.n_segments); ++away) {
        for (const index_type k : {p.n_segments - away, p.n_segments + away}) {
            if (k >= 1 && k <= most && fits(p.n_points, p.n_ranks, k, p.window)) return k;
        }
    }
    return 0;
}

std::string with_segments(const problem& p) {
    const index_type k = nearest_segments(p);
    return k == 0 ? "" : ", or --segments " + std::to_string(k);
}

std::string refuse_window(const window_parameters& w) {
    const std::string mu = std::to_string(w.n) + "/" + std::to_string(w.d);
    if (w.d < 2 || w.n <= w.d) return "--mu " + mu + " is no oversampling; choose n/d with n > d >= 2, such as 5/4.";
    if (w.d % 2 != 0) return "--mu " + mu + " has an odd d; choose an even one, such as 5/4, 3/2 or 9/8.";
    if (w.n > 64) return "--mu " + mu + " has more than 64 phases; choose a simpler fraction, such as 9/8.";
    if (w.width < 2 || w.width > 1024) return "--B must be between 2 and 1024 rows; choose 36 for mu = 5/4.";
    if (!(w.tau > 0 && w.tau <= 1.3)) return "--tau must be above 0 and at most 1.3; choose one near 0.9.";
    if (!(w.shape > 0 && w.shape <= 1e4)) return "--b must be above 0 and at most 10000; choose one near 34.";
    return {};
}

} // namespace

std::string refusal(const problem& p) {
    if (std::string no = refuse_window(p.window); !no.empty()) return no;
    if (p.n_segments < 1 || p.n_segments > most_segments) return "--segments must be between 1 and 4096; choose 8.";
    if (p.n_ranks > std::numeric_limits<int>::max() / p.n_segments) {
        return "--segments " + std::to_string(p.n_segments) + " on " + std::to_string(p.n_ranks) +
               " ranks are more than 2^31 segments; choose fewer.";
    }
    if (p.n_chunks < 0 || p.n_chunks > most_chunks)
        return "--chunks must be between 1 and " + std::to_string(most_chunks) + "; choose 8.";
    const index_type square = static_cast<index_type>(p.n_segments) * p.n_ranks * p.n_ranks;
    const index_type least = p.window.width * square;
    if (p.n_points < 1 || p.n_points > largest_n) {
        return "--n must be between 1 and 2^58; the least that works here is " +
               std::to_string(nearest_multiple(1, p.window.d * square, least)) + ".";
    }
    if (p.n_segments * p.n_ranks < 2) {
        return "one segment on one rank is an ordinary FFT, for which there is FFTW; choose --segments 2 or more.";
    }
    const std::string sizes = "--n " + std::to_string(p.n_points) + " with " + std::to_string(p.n_segments) +
                              " segments on each of " + std::to_string(p.n_ranks) + " ranks";
    const index_type unit = p.window.d * square;
    const index_type near = nearest_multiple(p.n_points, unit, least);
    if (p.n_points % unit != 0) {
        return sizes + " is no multiple of d k P^2 = " + std::to_string(unit) + "; nearest that works: --n " +
               std::to_string(near) + with_segments(p) + ".";
    }
    if (p.n_points < least) {
        return sizes + " leaves a rank fewer rows than the window has; the least that works: --n " +
               std::to_string(near) + " (B k P^2 = " + std::to_string(least) + ")" + with_segments(p) + ".";
    }
    return {};
}

index_type shape::first_q(index_type tile) const { return std::min(groups, tile * tile_groups) * window.n; }

index_type shape::first_halo_tile() const {
    // Tile t reads rows up to its last group's first row + taps.
    for (index_type tile = std::max<index_type>(0, n_tiles - 2 - window.width / (window.d * tile_groups));
         tile < n_tiles; ++tile) {
        const index_type last_group = std::min(groups, (tile + 1) * tile_groups);
        if (last_group * window.d + window.width > rows) return tile;
    }
    return n_tiles;
}

shape make_shape(const problem& asked, std::size_t complex_bytes) {
    shape s{};
    s.n_points = asked.n_points;
    s.n_ranks = asked.n_ranks;
    s.n_segments = asked.n_segments;
    s.all_segments = asked.n_segments * asked.n_ranks;
    s.segment_points = asked.n_points / s.all_segments;
    s.rows = s.segment_points / asked.n_ranks;
    s.window = asked.window;
    s.long_segment = s.segment_points / s.window.d * s.window.n;
    s.long_rows = s.rows / s.window.d * s.window.n;
    s.groups = s.rows / s.window.d;
    // The values of a tile, before and after the short FFTs, are to stay in the second-level cache.
    const index_type cached =
        (index_type{1} << 20) / static_cast<index_type>(complex_bytes) / s.window.n / s.all_segments;
    s.tile_groups = static_cast<int>(std::min(s.groups, std::clamp<index_type>(cached, 4, 64)));
    // Rather somewhat smaller than with a remainder.
    for (int fewer = s.tile_groups; fewer > s.tile_groups / 2; --fewer) {
        if (s.groups % fewer == 0) {
            s.tile_groups = fewer;
            break;
        }
    }
    s.n_tiles = (s.groups + s.tile_groups - 1) / s.tile_groups;
    index_type chunks = asked.n_chunks;
    if (chunks == 0) {
        constexpr index_type good_message = 128 << 10;
        chunks = 8;
        while (chunks > 1 && s.long_rows * static_cast<index_type>(complex_bytes) / chunks < good_message) chunks /= 2;
    }
    chunks = std::clamp<index_type>(chunks, 1, s.n_tiles);
    for (index_type c = 0; c <= chunks; ++c) s.chunk_tiles.push_back(s.n_tiles * c / chunks);
    s.n_pieces = static_cast<int>(std::clamp<index_type>(asked.n_pieces, 1, s.n_tiles / chunks));
    return s;
}

double memory_bytes(const shape& of, std::size_t complex_bytes, bool in_place) {
    const double v = static_cast<double>(complex_bytes) * static_cast<double>(of.points_per_rank());
    const double mu = of.window.mu();
    const double tables =
        static_cast<double>(complex_bytes) * (static_cast<double>(of.segment_points) +
                                              static_cast<double>(of.window.n) * of.window.taps() * of.all_segments);
    return v * (in_place ? 1 : 2) + mu * v * (2 - 1.0 / of.n_ranks) + tables;
}

} // namespace soi
