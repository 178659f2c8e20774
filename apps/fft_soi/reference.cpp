// SPDX-License-Identifier: Apache-2.0
// Twiddle indices j f mod N are exact integers; their roots come from two tables of sqrt(N) entries in long double.
// The transform plans without measuring: it runs once, on arrays that are in use.
#include "reference.hpp"

#include "common/report.hpp"

#include <fftw3.h>

#include <cmath>
#include <numbers>

namespace soi {

namespace {

using miniapp::splitmix64;

__extension__ typedef unsigned __int128 wide;

/// 24 bits, so that single precision holds it exactly.
double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 40) * 0x1p-23 - 1; }

} // namespace

std::vector<complex_l> reference_transform(std::vector<complex_l> x, int sign) {
    auto* const data = reinterpret_cast<fftwl_complex*>(x.data());
    const fftwl_plan plan = fftwl_plan_dft_1d(static_cast<int>(x.size()), data, data, sign, FFTW_ESTIMATE);
    fftwl_execute(plan);
    fftwl_destroy_plan(plan);
    return x;
}

template <class Real>
complex_l partial_bin(std::span<const std::complex<Real>> x, std::int64_t first, std::int64_t n_points, std::int64_t f,
                      int sign) {
    const auto n = static_cast<std::uint64_t>(n_points);
    int shift = 0;
    while (std::uint64_t{1} << (2 * shift) < n) ++shift;
    const std::uint64_t low_size = std::uint64_t{1} << shift;
    const auto root = [n, sign](std::uint64_t k) {
        const long double angle =
            sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
        return complex_l(std::cos(angle), std::sin(angle));
    };
    std::vector<complex_l> low;
    std::vector<complex_l> high;
    for (std::uint64_t k = 0; k < low_size; ++k) low.push_back(root(k));
    for (std::uint64_t k = 0; k * low_size < n; ++k) high.push_back(root(k * low_size));
    const auto step = static_cast<std::uint64_t>(f);
    auto at = static_cast<std::uint64_t>(static_cast<wide>(static_cast<std::uint64_t>(first)) * step % n);
    long double re = 0;
    long double im = 0;
    for (const std::complex<Real>& point : x) {
        const complex_l a = low[at & (low_size - 1)];
        const complex_l b = high[at >> shift];
        const long double c = a.real() * b.real() - a.imag() * b.imag();
        const long double s = a.real() * b.imag() + a.imag() * b.real();
        re += point.real() * c - point.imag() * s;
        im += point.real() * s + point.imag() * c;
        at += step;
        if (at >= n) at -= n;
    }
    return {re, im};
}

template complex_l partial_bin(std::span<const std::complex<double>>, std::int64_t, std::int64_t, std::int64_t, int);
template complex_l partial_bin(std::span<const std::complex<float>>, std::int64_t, std::int64_t, std::int64_t, int);

std::complex<double> random_point(std::int64_t j, std::uint64_t seed) {
    const std::uint64_t base = splitmix64(seed) + 2 * static_cast<std::uint64_t>(j);
    return {to_unit(splitmix64(base)), to_unit(splitmix64(base + 1))};
}

} // namespace soi
