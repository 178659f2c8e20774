// SPDX-License-Identifier: Apache-2.0
// The numbers of a plan: taps, twiddles, demodulation. Made in long double and rounded once. None has N entries: that
// is an advantage over the six-step method, whose twiddles are as many as the points.
#pragma once

#include "aligned.hpp"
#include "shape.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace soi {

/// Complex numbers in one vector of the kernel: the widest vectors of the target.
template <class Real>
inline constexpr int complex_lanes =
#if defined(__AVX512F__)
    64 / (2 * static_cast<int>(sizeof(Real)));
#elif defined(__AVX__)
    32 / (2 * static_cast<int>(sizeof(Real)));
#else
    sizeof(Real) == 8 ? 1 : 2;
#endif

/// e^{sign 2 pi i j / period} for all j, from two small tables: one complex product instead of a sine and a cosine.
template <class Real>
class roots_of_unity {
public:
    explicit roots_of_unity(index_type period, int sign = 1) {
        while (index_type{1} << (2 * shift_) < period) ++shift_;
        const auto exact = [&](index_type j) {
            const long double angle = sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(j) /
                                      static_cast<long double>(period);
            return std::complex<Real>(static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle)));
        };
        const index_type low = index_type{1} << shift_;
        for (index_type j = 0; j < low; ++j) low_.push_back(exact(j));
        for (index_type j = 0; j * low < period; ++j) high_.push_back(exact(j * low));
    }
    std::complex<Real> operator()(index_type j) const {
        const std::complex<Real> a = low_[static_cast<std::size_t>(j & ((index_type{1} << shift_) - 1))];
        const std::complex<Real> b = high_[static_cast<std::size_t>(j >> shift_)];
        // Spelled out: the operator of std::complex also looks for NaN.
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }

private:
    int shift_ = 0;
    std::vector<std::complex<Real>> low_;
    std::vector<std::complex<Real>> high_;
};

template <class Real>
struct tables {
    /// S rounded up to whole vectors: the columns of a row in the kernel's scratch.
    int padded_segments;
    /// G, as [tile of p][i][b][lane], each tap twice (for the real and the imaginary part); 0 beyond S.
    aligned_array<Real> taps;
    /// e^{sign i pi p / S}, as [p][re, re] and [p][-im, im]: what a multiplication of interleaved numbers needs.
    aligned_array<Real> twiddle_same;
    aligned_array<Real> twiddle_swapped;
    /// E, as [m]; has the scale of the transform.
    aligned_array<std::complex<Real>> demodulation;
};

/// `sign` -1 is forward, +1 inverse; the result is multiplied by `scale`.
template <class Real>
tables<Real> make_tables(const shape& of, int sign, long double scale);

} // namespace soi
