// SPDX-License-Identifier: Apache-2.0
// The kernel for one precision. A vector holds neighbouring columns p. NG groups times NB phases are summed at once:
// a tap is loaded once for NG groups and a number of x once for NB phases, so that arithmetic, not loads, decides.
// Sums run over i in one order whatever the blocking, which is why results do not depend on tiles or schedules.
#pragma once

#include "convolution.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace soi {

namespace {

template <class Real>
struct simd {
    static constexpr int lanes = complex_lanes<Real>;
    static constexpr int reals = 2 * lanes;
    typedef Real vector __attribute__((vector_size(reals * sizeof(Real))));

    static vector load(const Real* from) {
        vector value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void store(Real* to, vector value) { std::memcpy(to, &value, sizeof value); }

    /// Real and imaginary parts exchanged.
    static vector swap(vector v) {
        if constexpr (reals == 2) return __builtin_shufflevector(v, v, 1, 0);
        if constexpr (reals == 4) return __builtin_shufflevector(v, v, 1, 0, 3, 2);
        if constexpr (reals == 8) return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
        if constexpr (reals == 16) {
            return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
        }
    }
};

/// What one column of vectors needs; distances in reals.
template <class Real>
struct column {
    const Real* x;
    std::ptrdiff_t x_row;
    const Real* taps; ///< [i][b]
    Real* v;
    std::ptrdiff_t v_row;
    const Real* same;
    const Real* swapped;
    int n; ///< Phases: taps of one i.
    int d;
    int n_taps;
};

/// Groups a = 0 .. NG-1, phases `phase` .. phase + NB - 1 of n.
template <class Real, int NB, int NG>
[[gnu::always_inline]] inline void sum_block(const column<Real>& c, const Real* x, Real* v, int phase) {
    using lane = simd<Real>;
    using vector = typename lane::vector;
    std::array<std::array<vector, NB>, NG> sums{};
    const Real* taps = c.taps + static_cast<std::ptrdiff_t>(phase) * lane::reals;
    const std::ptrdiff_t group_rows = c.d * c.x_row;
    for (int i = 0; i < c.n_taps; ++i) {
        std::array<vector, NB> tap;
        for (int b = 0; b < NB; ++b) tap[b] = lane::load(taps + b * lane::reals);
        for (int a = 0; a < NG; ++a) {
            const vector value = lane::load(x + a * group_rows);
            for (int b = 0; b < NB; ++b) sums[a][b] += tap[b] * value;
        }
        taps += c.n * lane::reals;
        x += c.x_row;
    }
    const vector same = lane::load(c.same);
    const vector swapped = lane::load(c.swapped);
    for (int a = 0; a < NG; ++a) {
        for (int b = 0; b < NB; ++b) {
            const vector w = sums[a][b];
            lane::store(v + (a * c.n + phase + b) * c.v_row, w * same + lane::swap(w) * swapped);
        }
    }
}

/// All groups and phases of a column, NG groups at a time; the rest one by one.
template <class Real, int NB, int NG>
void sum_column(const column<Real>& c, index_type n_groups) {
    index_type a = 0;
    for (; a + NG <= n_groups; a += NG) {
        const Real* x = c.x + a * c.d * c.x_row;
        Real* v = c.v + a * c.n * c.v_row;
        for (int phase = 0; phase < c.n; phase += NB) sum_block<Real, NB, NG>(c, x, v, phase);
    }
    for (; a < n_groups; ++a) {
        const Real* x = c.x + a * c.d * c.x_row;
        Real* v = c.v + a * c.n * c.v_row;
        for (int phase = 0; phase < c.n; phase += NB) sum_block<Real, NB, 1>(c, x, v, phase);
    }
}

/// Blocks that fill the registers: 32 vectors with AVX-512, 16 elsewhere.
#if defined(__AVX512F__)
inline constexpr bool many_registers = true;
#else
inline constexpr bool many_registers = false;
#endif

template <class Real>
void sum_phases(const column<Real>& c, index_type n_groups) {
    switch (c.n) {
    case 3: return sum_column<Real, 3, many_registers ? 7 : 4>(c, n_groups);
    case 5: return sum_column<Real, 5, many_registers ? 4 : 2>(c, n_groups);
    case 9: return sum_column<Real, 9, many_registers ? 2 : 1>(c, n_groups);
    default: return sum_column<Real, 1, 8>(c, n_groups);
    }
}

} // namespace

template <class Real>
std::size_t panel_size(const shape& of) {
    return static_cast<std::size_t>(of.tile_groups * of.window.d + of.window.width) *
           static_cast<std::size_t>(panel_columns<Real>);
}

template <class Real>
void convolve(const shape& of, const tables<Real>& with, const std::complex<Real>* x, index_type n_groups,
              std::complex<Real>* v, std::complex<Real>* panel) {
    constexpr int lanes = complex_lanes<Real>;
    constexpr int width = panel_columns<Real>;
    const int s = of.all_segments;
    const int padded = with.padded_segments;
    const index_type n_rows = n_groups * of.window.d + of.window.width;
    const auto taps_of_tile = static_cast<std::ptrdiff_t>(of.window.taps()) * of.window.n * lanes * 2;
    column<Real> c{};
    c.n = of.window.n;
    c.d = of.window.d;
    c.n_taps = of.window.taps();
    c.v_row = 2 * static_cast<std::ptrdiff_t>(padded);
    // Short rows of whole vectors are read in place.
    const bool in_place = padded == s && s * static_cast<int>(sizeof(std::complex<Real>)) <= 1024;
    for (int first = 0; first < s; first += in_place ? s : width) {
        const int columns = in_place ? s : std::min(width, s - first);
        const auto* from = reinterpret_cast<const Real*>(x + first);
        c.x_row = 2 * static_cast<std::ptrdiff_t>(s);
        if (!in_place) {
            const int copied = (columns + lanes - 1) / lanes * lanes;
            for (index_type row = 0; row < n_rows; ++row) {
                std::copy_n(x + row * s + first, columns, panel + row * width);
                std::fill_n(panel + row * width + columns, copied - columns, std::complex<Real>{});
            }
            from = reinterpret_cast<const Real*>(panel);
            c.x_row = 2 * static_cast<std::ptrdiff_t>(width);
        }
        for (int p = 0; p < columns; p += lanes) {
            c.x = from + 2 * p;
            c.taps = with.taps.data() + (first + p) / lanes * taps_of_tile;
            c.same = with.twiddle_same.data() + 2 * (first + p);
            c.swapped = with.twiddle_swapped.data() + 2 * (first + p);
            c.v = reinterpret_cast<Real*>(v + first + p);
            sum_phases(c, n_groups);
        }
    }
}

} // namespace soi
