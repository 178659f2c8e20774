// SPDX-License-Identifier: Apache-2.0
// The hopping term of one vector site: project, multiply by the link, accumulate, eight times in a fixed order.
// A neighbour's half-spinor comes from the local field, from other lanes of it, or from a halo; from there on there is
// one code path, so a result never depends on how the lattice is cut. That costs a branch per hop, and buys results
// that are equal bit by bit for every grid and every mode.
#pragma once

#include "layout.hpp"
#include "simd.hpp"

#include <span>
#include <utility>

namespace dslash {

inline constexpr int spinor_reals = 24;
inline constexpr int half_spinor_reals = 12;

/// A phase: multiplication by 1, i, -1 or -i.
enum class phase { one, i, minus_one, minus_i };

/// How direction D projects and reconstructs (DeGrand-Rossi). Forward hops take 1-gamma, backward hops 1+gamma:
/// h0 = s0 + first * s[first_spin], h1 = s1 + second * s[second_spin];
/// r2 = third * h[third_from],      r3 = fourth * h[fourth_from].
struct projector {
    int first_spin;
    phase first;
    int second_spin;
    phase second;
    int third_from;
    phase third;
    int fourth_from;
    phase fourth;
};

inline constexpr std::array<projector, n_directions> projectors{{
    {3, phase::minus_i, 2, phase::minus_i, 1, phase::i, 0, phase::i},
    {3, phase::i, 2, phase::i, 1, phase::minus_i, 0, phase::minus_i},
    {3, phase::one, 2, phase::minus_one, 1, phase::minus_one, 0, phase::one},
    {3, phase::minus_one, 2, phase::one, 1, phase::one, 0, phase::minus_one},
    {2, phase::minus_i, 3, phase::i, 0, phase::i, 1, phase::minus_i},
    {2, phase::i, 3, phase::minus_i, 0, phase::minus_i, 1, phase::i},
    {2, phase::minus_one, 3, phase::minus_one, 0, phase::minus_one, 1, phase::minus_one},
    {2, phase::one, 3, phase::one, 0, phase::one, 1, phase::one},
}};

/// How the lanes move at the edges in one direction.
template <class Real, int N>
struct lane_moves {
    using index = typename simd<Real, N>::index;
    index wrap;      ///< Source lane of each lane, when wrapped.
    index expand;    ///< Place of each lane in a face vector.
    index from_halo; ///< All ones in lanes that the halo fills.
    index compact;   ///< The lanes that a face carries, moved to the front.
};

/// What the kernel reads and writes for one hop. Pointers to lanes are aligned to the vector.
template <class Real, int N>
struct kernel_arguments {
    const Real* in;    ///< Field of the other parity.
    Real* out;         ///< Field of the output parity.
    const Real* links; ///< [site][direction][link reals][lane]
    const std::uint32_t* neighbours;
    const std::int32_t* halo_index;
    std::array<const Real*, n_directions> halo; ///< [face site][12][face lanes]
    std::array<int, n_directions> face_lanes;
    const lane_moves<Real, N>* moves; ///< Per direction.
    Real scale;                       ///< The result is multiplied by this.
};

template <class V>
struct complex_vector {
    V re;
    V im;
};

/// a + factor * b, where a phase costs nothing but a choice of sign and part.
template <phase Factor, class V>
[[gnu::always_inline]] inline complex_vector<V> add(complex_vector<V> a, complex_vector<V> b) {
    if constexpr (Factor == phase::one) return {a.re + b.re, a.im + b.im};
    if constexpr (Factor == phase::minus_one) return {a.re - b.re, a.im - b.im};
    if constexpr (Factor == phase::i) return {a.re - b.im, a.im + b.re};
    return {a.re + b.im, a.im - b.re};
}

/// Two colour vectors.
template <class V>
using half_spinor = std::array<std::array<complex_vector<V>, 3>, 2>;

template <class Real, int N>
[[gnu::always_inline]] inline complex_vector<typename simd<Real, N>::vector> load(const Real* from, int component) {
    using vector = typename simd<Real, N>::vector;
    const auto* at = reinterpret_cast<const vector*>(from) + 2 * component;
    return {at[0], at[1]};
}

template <class Real, int N, int D>
[[gnu::always_inline]] inline half_spinor<typename simd<Real, N>::vector> project(const Real* site) {
    constexpr projector p = projectors[D];
    half_spinor<typename simd<Real, N>::vector> h;
    for (int c = 0; c < 3; ++c) {
        h[0][c] = add<p.first>(load<Real, N>(site, c), load<Real, N>(site, 3 * p.first_spin + c));
        h[1][c] = add<p.second>(load<Real, N>(site, 3 + c), load<Real, N>(site, 3 * p.second_spin + c));
    }
    return h;
}

/// Three colours of b for which add<Factor>(a, b) is a, bit by bit: -0 where it is added, +0 where it is subtracted.
template <class Real, int N, phase Factor>
void neutral_spin(typename simd<Real, N>::vector* spin) {
    using vector = typename simd<Real, N>::vector;
    constexpr bool real_is_added = Factor == phase::one || Factor == phase::i;
    constexpr bool imaginary_is_added = Factor == phase::one || Factor == phase::minus_i;
    for (int c = 0; c < 3; ++c) {
        spin[2 * c] = real_is_added ? -vector{} : vector{};
        spin[2 * c + 1] = imaginary_is_added ? -vector{} : vector{};
    }
}

/// Places for one spinor per direction, whose spins 2 and 3 are zeros of the sign that makes adding them change nothing
/// at all: a half-spinor in spins 0 and 1 is then its own projection, exactly.
template <class Real, int N>
struct edge_scratch {
    using vector = typename simd<Real, N>::vector;
    vector spinor[n_directions][spinor_reals];

    edge_scratch() { fill(std::make_integer_sequence<int, n_directions>{}); }

private:
    template <int... D>
    void fill(std::integer_sequence<int, D...>) {
        (neutral_spin<Real, N, projectors[D].first>(spinor[D] + 6 * projectors[D].first_spin), ...);
        (neutral_spin<Real, N, projectors[D].second>(spinor[D] + 6 * projectors[D].second_spin), ...);
    }
};

/// The neighbour in direction D where it is not simply local: in other lanes, in a halo, or both; `to` is its place of
/// edge_scratch. Out of line, since edges are few and the code around them should stay small.
template <class Real, int N, int D>
[[gnu::noinline]] void edge_spinor(const kernel_arguments<Real, N>& a, std::size_t entry_at,
                                   typename simd<Real, N>::vector* to) {
    using lanes = simd<Real, N>;
    using vector = typename lanes::vector;
    const std::uint32_t entry = a.neighbours[entry_at];
    const auto kind = static_cast<hop_kind>(entry & hop_entry::kind_mask);
    if (kind == hop_kind::halo) {
        const Real* from = a.halo[D] + static_cast<std::size_t>(a.halo_index[entry_at]) * half_spinor_reals * N;
        std::memcpy(to, from, half_spinor_reals * sizeof(vector));
        return;
    }
    const auto h =
        project<Real, N, D>(a.in + static_cast<std::size_t>(entry >> hop_entry::site_shift) * spinor_reals * N);
    for (int s = 0; s < 2; ++s) {
        for (int c = 0; c < 3; ++c) {
            to[6 * s + 2 * c] = lanes::permute(h[s][c].re, a.moves[D].wrap);
            to[6 * s + 2 * c + 1] = lanes::permute(h[s][c].im, a.moves[D].wrap);
        }
    }
    if (kind != hop_kind::merged) return;
    const auto stride = static_cast<std::size_t>(a.face_lanes[D]);
    const Real* from = a.halo[D] + static_cast<std::size_t>(a.halo_index[entry_at]) * half_spinor_reals * stride;
    for (int k = 0; k < half_spinor_reals; ++k) {
        const vector received = lanes::permute(lanes::load_unaligned(from), a.moves[D].expand);
        to[k] = a.moves[D].from_halo ? received : to[k];
        from += stride;
    }
}

/// Column `c` of the link, its third element rebuilt from the two stored rows where only two are stored.
template <class Real, int N, bool TwoRows, class V>
[[gnu::always_inline]] inline std::array<complex_vector<V>, 3> link_column(const Real* u, int c,
                                                                           [[maybe_unused]] Real third_row_sign) {
    std::array<complex_vector<V>, 3> column;
    column[0] = load<Real, N>(u, c);
    column[1] = load<Real, N>(u, 3 + c);
    if constexpr (!TwoRows) {
        column[2] = load<Real, N>(u, 6 + c);
    } else {
        const int d = (c + 1) % 3;
        const int e = (c + 2) % 3;
        const auto ad = load<Real, N>(u, d);
        const auto ae = load<Real, N>(u, e);
        const auto bd = load<Real, N>(u, 3 + d);
        const auto be = load<Real, N>(u, 3 + e);
        column[2].re = (ad.re * be.re - ad.im * be.im - ae.re * bd.re + ae.im * bd.im) * third_row_sign;
        column[2].im = (ae.re * bd.im + ae.im * bd.re - ad.re * be.im - ad.im * be.re) * third_row_sign;
    }
    return column;
}

[[gnu::always_inline]] inline void prefetch_to_l1(const void* from, std::size_t size_bytes) {
    for (std::size_t byte = 0; byte < size_bytes; byte += 64) {
        __builtin_prefetch(static_cast<const char*>(from) + byte, 0, 3);
    }
}

[[gnu::always_inline]] inline void prefetch_to_l2(const void* from, std::size_t size_bytes) {
    for (std::size_t byte = 0; byte < size_bytes; byte += 64) {
        __builtin_prefetch(static_cast<const char*>(from) + byte, 0, 2);
    }
}

/// Adds direction D to the result. Column by column: twelve independent sums, and a column of the half-spinor is dead
/// once it is used, which leaves registers for the sums.
template <class Real, int N, bool TwoRows, bool LinksAreFar, int D, class V>
[[gnu::always_inline]] inline void hop(const kernel_arguments<Real, N>& a, std::int32_t site, std::int32_t next_site,
                                       edge_scratch<Real, N>& scratch, complex_vector<V> (&result)[4][3]) {
    constexpr int link_reals = TwoRows ? 12 : 18;
    constexpr std::size_t link_bytes = link_reals * N * sizeof(Real);
    constexpr projector p = projectors[D];
    const std::size_t at = static_cast<std::size_t>(site) * n_directions + D;
    const std::size_t next_at = static_cast<std::size_t>(next_site) * n_directions + D;
    const std::uint32_t entry = a.neighbours[at];
    const Real* u = a.links + at * link_reals * N;
    // The links are most of the traffic and are used once. The next direction's lie right behind these; from memory
    // they come too late unless the next site's are asked for as well.
    prefetch_to_l1(u + link_reals * N, link_bytes);
    if constexpr (LinksAreFar) prefetch_to_l2(a.links + next_at * link_reals * N, link_bytes);
    // Z and T neighbours are the ones that nearby sites have not read yet.
    if constexpr (D == 4 || D >= 6) {
        const std::uint32_t next_entry = a.neighbours[next_at];
        prefetch_to_l1(a.in + static_cast<std::size_t>(next_entry >> hop_entry::site_shift) * spinor_reals * N,
                       spinor_reals * N * sizeof(Real));
    }
    const Real* neighbour = a.in + static_cast<std::size_t>(entry >> hop_entry::site_shift) * spinor_reals * N;
    if ((entry & hop_entry::kind_mask) != 0) {
        edge_spinor<Real, N, D>(a, at, scratch.spinor[D]);
        neighbour = reinterpret_cast<const Real*>(scratch.spinor[D]);
    }
    const Real sign = (entry & hop_entry::negative_bit) != 0 ? Real(-1) : Real(1);
    complex_vector<V> chi[2][3];
    for (int c = 0; c < 3; ++c) {
        const auto column = link_column<Real, N, TwoRows, V>(u, c, sign);
        const complex_vector<V> h[2] = {
            add<p.first>(load<Real, N>(neighbour, c), load<Real, N>(neighbour, 3 * p.first_spin + c)),
            add<p.second>(load<Real, N>(neighbour, 3 + c), load<Real, N>(neighbour, 3 * p.second_spin + c))};
        for (int row = 0; row < 3; ++row) {
            for (int s = 0; s < 2; ++s) {
                complex_vector<V>& sum = chi[s][row];
                if (c == 0) {
                    sum.re = column[row].re * h[s].re;
                    sum.im = column[row].re * h[s].im;
                } else {
                    sum.re = sum.re + column[row].re * h[s].re;
                    sum.im = sum.im + column[row].re * h[s].im;
                }
                sum.re = sum.re - column[row].im * h[s].im;
                sum.im = sum.im + column[row].im * h[s].re;
            }
        }
    }
    for (int row = 0; row < 3; ++row) {
        if constexpr (D == 0) {
            constexpr complex_vector<V> zero{};
            result[0][row] = chi[0][row];
            result[1][row] = chi[1][row];
            result[2][row] = add<p.third>(zero, chi[p.third_from][row]);
            result[3][row] = add<p.fourth>(zero, chi[p.fourth_from][row]);
        } else {
            result[0][row] = add<phase::one>(result[0][row], chi[0][row]);
            result[1][row] = add<phase::one>(result[1][row], chi[1][row]);
            result[2][row] = add<p.third>(result[2][row], chi[p.third_from][row]);
            result[3][row] = add<p.fourth>(result[3][row], chi[p.fourth_from][row]);
        }
    }
}

/// out[site] = scale * (D in)[site] for every site of the list. `LinksAreFar`: the links do not stay in cache from hop to
/// hop. A template parameter, since a branch in the middle of a hop costs the compiler its register allocation (-25 %).
template <class Real, int N, bool TwoRows, bool LinksAreFar>
void hopping_term(const kernel_arguments<Real, N>& a, std::span<const std::int32_t> sites) {
    using vector = typename simd<Real, N>::vector;
    edge_scratch<Real, N> scratch;
    const std::int32_t last = sites.empty() ? 0 : sites.back();
    for (const std::int32_t& site : sites) {
        const std::int32_t next = site == last ? last : *(&site + 1);
        complex_vector<vector> result[4][3];
        hop<Real, N, TwoRows, LinksAreFar, 0>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 1>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 2>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 3>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 4>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 5>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 6>(a, site, next, scratch, result);
        hop<Real, N, TwoRows, LinksAreFar, 7>(a, site, next, scratch, result);
        auto* out = reinterpret_cast<vector*>(a.out + static_cast<std::size_t>(site) * spinor_reals * N);
        for (int s = 0; s < 4; ++s) {
            for (int c = 0; c < 3; ++c) {
                out[2 * (3 * s + c)] = result[s][c].re * a.scale;
                out[2 * (3 * s + c) + 1] = result[s][c].im * a.scale;
            }
        }
    }
}

/// Packs the half-spinors that the neighbour needs for its hop D, edge lanes only, in the order of `sites`.
/// `compact` moves the edge lanes to the front.
template <class Real, int N, int D>
void pack_face(const Real* field, std::span<const std::int32_t> sites, typename simd<Real, N>::index compact,
               int face_lanes, Real* to) {
    using lanes = simd<Real, N>;
    const auto stride = static_cast<std::size_t>(face_lanes);
    for (const std::int32_t site : sites) {
        const auto h = project<Real, N, D>(field + static_cast<std::size_t>(site) * spinor_reals * N);
        // Each store is a whole vector and its surplus lanes are overwritten by the next, so collect a site aside.
        Real packed[(half_spinor_reals + 1) * N];
        Real* at = packed;
        for (const auto& colours : h) {
            for (const auto& value : colours) {
                lanes::store_unaligned(at, lanes::permute(value.re, compact));
                lanes::store_unaligned(at + stride, lanes::permute(value.im, compact));
                at += 2 * stride;
            }
        }
        std::memcpy(to, packed, half_spinor_reals * stride * sizeof(Real));
        to += half_spinor_reals * stride;
    }
}

} // namespace dslash
