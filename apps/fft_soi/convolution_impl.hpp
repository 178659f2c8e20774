// SPDX-License-Identifier: Apache-2.0
// The kernel for one precision. A vector holds neighbouring columns p. NG groups times NB phases are summed at once:
// a tap is loaded once for NG groups and a number of x once for NB phases, so that arithmetic, not loads, decides.
// Sums run over i in one order whatever the blocking, which is why results do not depend on tiles or schedules.
#pragma once

#include "convolution.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

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
    const Real* ahead; ///< What will be read after this column: a row for each of its own, to be asked for meanwhile.
    std::ptrdiff_t ahead_row;
};

/// Adds tap i of the phases LO <= b < HI to the sums of NG groups; `taps` and `x` are at i.
template <class Real, int LO, int HI, int NB, int NG>
[[gnu::always_inline]] inline void add_tap(std::array<std::array<typename simd<Real>::vector, NB>, NG>& sums,
                                           const Real* taps, const Real* x, std::ptrdiff_t group_rows) {
    using lane = simd<Real>;
    std::array<typename lane::vector, NB> tap;
    for (int b = LO; b < HI; ++b) tap[b] = lane::load(taps + b * lane::reals);
    for (int a = 0; a < NG; ++a) {
        const auto value = lane::load(x + a * group_rows);
        for (int b = LO; b < HI; ++b) sums[a][b] += tap[b] * value;
    }
}

/// Groups a = 0 .. NG-1, all n = NB phases; D is d. Of the first and the last d taps some phases' are zero for all p and
/// are left out: phase b has taps from ceil(...) on, see the bounds. Asks for NG D rows from `ahead` on, one for each tap:
/// together they would hold up the loads of x.
template <class Real, int NB, int D, int NG>
[[gnu::always_inline]] inline void sum_block(const column<Real>& c, const Real* x, Real* v, const Real* ahead) {
    using lane = simd<Real>;
    std::array<std::array<typename lane::vector, NB>, NG> sums{};
    const Real* taps = c.taps;
    const std::ptrdiff_t group_rows = D * c.x_row;
    const auto next = [&] {
        taps += NB * lane::reals;
        x += c.x_row;
    };
    const int width = c.n_taps - D;
    [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
        // Tap i of phase b is not zero for some p only if b d / n - i < 1.
        ((add_tap<Real, 0, std::min(NB, ((i + 1) * NB + D - 1) / D), NB, NG>(sums, taps, x, group_rows), next()), ...);
    }(std::make_integer_sequence<int, D>{});
    int i = D;
    for (const int last = std::min(width, D + NG * D); i < last; ++i, ahead += c.ahead_row) {
        __builtin_prefetch(ahead, 0, 2); // to the second-level cache; harmless beyond the end of x
        add_tap<Real, 0, NB, NB, NG>(sums, taps, x, group_rows);
        next();
    }
    for (; i < width; ++i) {
        add_tap<Real, 0, NB, NB, NG>(sums, taps, x, group_rows);
        next();
    }
    [&]<int... j>(std::integer_sequence<int, j...>) __attribute__((always_inline)) {
        // Tap B + j only if b d / n >= j.
        ((add_tap<Real, (j * NB + D - 1) / D, NB, NB, NG>(sums, taps, x, group_rows), next()), ...);
    }(std::make_integer_sequence<int, D>{});
    const auto same = lane::load(c.same);
    const auto swapped = lane::load(c.swapped);
    for (int a = 0; a < NG; ++a) {
        for (int b = 0; b < NB; ++b) {
            const auto w = sums[a][b];
            lane::store(v + (a * NB + b) * c.v_row, w * same + lane::swap(w) * swapped);
        }
    }
}

/// All groups of a column, NG at a time; the rest one by one.
template <class Real, int NB, int D, int NG>
void sum_column(const column<Real>& c, index_type n_groups) {
    const auto x = [&](index_type a) { return c.x + a * D * c.x_row; };
    const auto v = [&](index_type a) { return c.v + a * NB * c.v_row; };
    const auto ahead = [&](index_type a) { return c.ahead + a * D * c.ahead_row; };
    index_type a = 0;
    for (; a + NG <= n_groups; a += NG) sum_block<Real, NB, D, NG>(c, x(a), v(a), ahead(a));
    for (; a < n_groups; ++a) sum_block<Real, NB, D, 1>(c, x(a), v(a), ahead(a));
}

/// Any n and d: phase by phase, eight groups at a time.
template <class Real>
void sum_any(const column<Real>& c, index_type n_groups) {
    using lane = simd<Real>;
    constexpr int at_once = 8;
    const auto same = lane::load(c.same);
    const auto swapped = lane::load(c.swapped);
    for (index_type first = 0; first < n_groups; first += at_once) {
        const auto n = static_cast<int>(std::min<index_type>(at_once, n_groups - first));
        for (int b = 0; b < c.n; ++b) {
            std::array<typename lane::vector, at_once> sums{};
            for (int i = 0; i < c.n_taps; ++i) {
                const auto tap = lane::load(c.taps + (i * c.n + b) * lane::reals);
                for (int a = 0; a < n; ++a) sums[a] += tap * lane::load(c.x + ((first + a) * c.d + i) * c.x_row);
            }
            for (int a = 0; a < n; ++a) {
                lane::store(c.v + ((first + a) * c.n + b) * c.v_row, sums[a] * same + lane::swap(sums[a]) * swapped);
            }
        }
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
    if (c.n_taps >= 3 * c.d) { // B >= 2 d: the first and the last taps do not overlap
        if (c.n == 3 && c.d == 2) return sum_column<Real, 3, 2, many_registers ? 7 : 4>(c, n_groups);
        if (c.n == 5 && c.d == 4) return sum_column<Real, 5, 4, many_registers ? 4 : 2>(c, n_groups);
        if (c.n == 9 && c.d == 8) return sum_column<Real, 9, 8, many_registers ? 2 : 1>(c, n_groups);
    }
    sum_any(c, n_groups);
}

/// `columns` columns of n_rows rows, as [vector of columns][row]; columns beyond the last become zero.
template <class Real>
void copy_to_panel(const std::complex<Real>* x, int s, index_type n_rows, int columns, std::complex<Real>* panel) {
    using lane = simd<Real>;
    constexpr int lanes = lane::lanes;
    const int whole = columns / lanes * lanes;
    for (index_type row = 0; row < n_rows; ++row) {
        const std::complex<Real>* const from = x + row * s;
        std::complex<Real>* const to = panel + row * lanes;
        for (int p = 0; p < whole; p += lanes) {
            lane::store(reinterpret_cast<Real*>(to + p * n_rows), lane::load(reinterpret_cast<const Real*>(from + p)));
        }
        if (whole == columns) continue;
        std::copy_n(from + whole, columns - whole, to + whole * n_rows);
        std::fill_n(to + whole * n_rows + (columns - whole), lanes - (columns - whole), std::complex<Real>{});
    }
}

} // namespace

template <class Real>
std::size_t panel_size(const shape& of) {
    return static_cast<std::size_t>(of.tile_groups * of.window.d + of.window.width) *
           static_cast<std::size_t>(panel_vectors * complex_lanes<Real>);
}

template <class Real>
void convolve(const shape& of, const tables<Real>& with, const std::complex<Real>* x, index_type n_groups,
              std::complex<Real>* v, std::complex<Real>* panel) {
    constexpr int lanes = complex_lanes<Real>;
    constexpr int width = panel_vectors * lanes;
    const int s = of.all_segments;
    const index_type n_rows = n_groups * of.window.d + of.window.width;
    const auto taps_of_tile = static_cast<std::ptrdiff_t>(of.window.taps()) * of.window.n * lanes * 2;
    column<Real> c{};
    c.n = of.window.n;
    c.d = of.window.d;
    c.n_taps = of.window.taps();
    c.v_row = 2 * static_cast<std::ptrdiff_t>(with.padded_segments);
    c.ahead_row = 2 * static_cast<std::ptrdiff_t>(s);
    const bool is_direct = static_cast<std::size_t>(s) * sizeof(*x) <= direct_row_bytes;
    for (int first = 0; first < s; first += width) {
        const int columns = std::min(width, s - first);
        const std::complex<Real>* const from = x + first;
        // A vector that is only partly there goes through the panel in any case.
        const int n_direct = is_direct ? columns / lanes * lanes : 0;
        copy_to_panel<Real>(from + n_direct, s, n_rows, columns - n_direct, panel);
        // Next come the same columns of the next tile, or, with a panel, the next columns of this one.
        const bool is_last = is_direct || first + width >= s;
        const std::complex<Real>* const ahead = is_last ? x + n_rows * s + (is_direct ? first : 0) : from + width;
        for (int p = 0; p < columns; p += lanes) {
            const bool in_place = p < n_direct;
            c.x = reinterpret_cast<const Real*>(in_place ? from + p : panel + (p - n_direct) * n_rows);
            c.x_row = in_place ? c.ahead_row : 2 * lanes;
            c.taps = with.taps.data() + (first + p) / lanes * taps_of_tile;
            c.same = with.twiddle_same.data() + 2 * (first + p);
            c.swapped = with.twiddle_swapped.data() + 2 * (first + p);
            c.v = reinterpret_cast<Real*>(v + first + p);
            c.ahead = reinterpret_cast<const Real*>(ahead + p);
            sum_phases(c, n_groups);
        }
    }
}

} // namespace soi
