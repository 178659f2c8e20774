// SPDX-License-Identifier: Apache-2.0
// Linear algebra on the sites of a tile, for solvers. Sums of products are exact: they come out equal bit by bit however the lattice
// is cut into ranks, lanes and tiles, so that a solver takes the same steps everywhere. Each term is split into two parts, rounded to
// units so large that adding parts never rounds. The price is some additions for each site and the range of exact_sum.
#pragma once

#include "kernel.hpp"
#include "stencil.hpp"

#include <cmath>

namespace dslash {

/// Adds the lanes of `terms` to `sum`, each in two parts.
template <class V>
struct exact_lanes {
    explicit exact_lanes(double scale) : upper(0.75 * scale), lower(upper * exact_sum::lower_share) {}
    [[gnu::always_inline]] void add(V term) {
        // What is above the unit of `upper` remains, rounded: the unit is the last bit of numbers of that size.
        const V first = (term + upper) - upper;
        high += first;
        low += ((term - first) + lower) - lower;
    }
    template <int N>
    void add_to(exact_sum& sum) const {
        for (int lane = 0; lane < N; ++lane) sum.add({high[lane], low[lane]});
    }
    double upper, lower;
    V high{}, low{};
};

/// `K` terms. `sign` is that of spins 2 and 3.
template <class Real, int N, std::size_t K>
void combine_sites(Real* out, const std::array<const Real*, K>& in, const std::array<std::complex<Real>, K>& factors,
                   std::span<const std::int32_t> sites, Real sign) {
    using vector = typename simd<Real, N>::vector;
    for (const std::int32_t site : sites) {
        const std::size_t at = static_cast<std::size_t>(site) * spinor_reals * N;
        for (int c = 0; c < spinor_reals / 2; ++c) {
            complex_vector<vector> sum{};
            for (std::size_t k = 0; k < K; ++k) {
                const auto x = load<Real, N>(in[k] + at, c);
                sum.re += factors[k].real() * x.re - factors[k].imag() * x.im;
                sum.im += factors[k].real() * x.im + factors[k].imag() * x.re;
            }
            auto* const to = reinterpret_cast<vector*>(out + at) + 2 * c;
            const Real here = 2 * c < spinor_reals / 2 ? Real(1) : sign;
            to[0] = here * sum.re;
            to[1] = here * sum.im;
        }
    }
}

/// <a, b> of each site is summed in one order, then added exactly. `IsNorm`: of a = b; its imaginary part is 0.
template <class Real, int N, bool IsNorm>
void add_products(const Real* a, const Real* b, std::span<const std::int32_t> sites, double scale, exact_sum* to) {
    using vector = typename simd<Real, N>::vector;
    using wide = typename simd<double, N>::vector;
    exact_lanes<wide> re(scale), im(scale);
    for (const std::int32_t site : sites) {
        const std::size_t at = static_cast<std::size_t>(site) * spinor_reals * N;
        complex_vector<vector> sum{};
        for (int c = 0; c < spinor_reals / 2; ++c) {
            const auto x = load<Real, N>(a + at, c);
            const auto y = load<Real, N>(b + at, c);
            sum.re += x.re * y.re + x.im * y.im;
            if constexpr (!IsNorm) sum.im += x.re * y.im - x.im * y.re;
        }
        re.add(__builtin_convertvector(sum.re, wide));
        if constexpr (!IsNorm) im.add(__builtin_convertvector(sum.im, wide));
    }
    re.template add_to<N>(to[0]);
    im.template add_to<N>(to[1]);
}

/// Calls work(a number of `to`, the same of `from`) with each number of the sites.
template <int N, class To, class From, class Work>
void each_number(To* to, const From* from, std::span<const std::int32_t> sites, Work&& work) {
    for (const std::int32_t site : sites) {
        const std::size_t at = static_cast<std::size_t>(site) * spinor_reals * N;
        for (std::size_t k = 0; k < spinor_reals * N; ++k) work(to[at + k], from[at + k]);
    }
}

} // namespace dslash
