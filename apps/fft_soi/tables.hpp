// SPDX-License-Identifier: Apache-2.0
// The numbers of a plan: taps, twiddles, demodulation. Made in long double and rounded once. None has N entries: that
// is an advantage over the six-step method, whose twiddles are as many as the points.
#pragma once

#include "aligned.hpp"
#include "shape.hpp"

#include <complex>

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
