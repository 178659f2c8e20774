// SPDX-License-Identifier: Apache-2.0
// Boxes of cells or ranks in several dimensions, and places in them. The first dimension runs fastest in every linear index.
// Templates, since the miniapps have two, three and four dimensions.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace miniapp {

/// "8.8.16" as N numbers from 1 to `most`, or nothing.
template <std::size_t N>
std::optional<std::array<int, N>> parse_extents(const std::string& text, int most) {
    std::array<int, N> values{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int& value : values) {
        if (&value != values.data() && (at == end || *at++ != '.')) return std::nullopt;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc{} || value < 1 || value > most) return std::nullopt;
        at = next;
    }
    return at == end ? std::optional(values) : std::nullopt;
}

template <std::size_t N>
std::string to_string(const std::array<int, N>& values) {
    std::string text;
    for (const int value : values) text += (text.empty() ? "" : ".") + std::to_string(value);
    return text;
}

template <std::size_t N>
std::int64_t index_of(const std::array<int, N>& place, const std::array<int, N>& in) {
    std::int64_t index = 0;
    for (std::size_t d = N; d-- > 0;) index = index * in[d] + place[d];
    return index;
}

template <std::size_t N>
std::array<int, N> place_of(std::int64_t index, const std::array<int, N>& in) {
    std::array<int, N> place{};
    for (std::size_t d = 0; d < N; index /= in[d++]) place[d] = static_cast<int>(index % in[d]);
    return place;
}

/// The index of what is beyond a side of a place, or nothing. Sides are 2 * dimension, and 1 more for the upper one.
template <std::size_t N>
std::optional<int> beyond(std::array<int, N> place, int side, const std::array<int, N>& in) {
    const auto d = static_cast<std::size_t>(side / 2);
    place[d] += side % 2 == 0 ? -1 : 1;
    if (place[d] < 0 || place[d] == in[d]) return std::nullopt;
    return static_cast<int>(index_of(place, in));
}

/// Calls `visit` with every grid of `n_ranks` ranks. The last dimension is the outermost choice, the largest first.
template <std::size_t N, class Visit>
void for_each_grid(int n_ranks, Visit&& visit, std::array<int, N> grid = {}, std::size_t d = N - 1) {
    for (int n = n_ranks; n >= 1; --n) {
        if (n_ranks % n != 0 || (d == 0 && n < n_ranks)) continue;
        grid[d] = n;
        if (d == 0) {
            visit(grid);
        } else {
            for_each_grid<N>(n_ranks / n, visit, grid, d - 1);
        }
    }
}

/// The grid of `n_ranks` ranks for which cost(grid), which is nothing where it does not fit, is least; the first of equals.
template <std::size_t N, class Cost>
std::optional<std::array<int, N>> best_grid(int n_ranks, Cost&& cost) {
    std::optional<std::array<int, N>> best;
    decltype(cost({})) least;
    for_each_grid<N>(n_ranks, [&](const std::array<int, N>& grid) {
        const auto here = cost(grid);
        if (!here || (best && *here >= *least)) return;
        best = grid;
        least = here;
    });
    return best;
}

} // namespace miniapp
