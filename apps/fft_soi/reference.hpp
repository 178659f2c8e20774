// SPDX-License-Identifier: Apache-2.0
// What results are compared with: FFTW in long double on one rank, and single bins by direct summation in long double,
// the only check that scales to any N. Neither shares code with the transforms.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace soi {

using complex_l = std::complex<long double>;

/// The whole transform of `x`, unscaled.
std::vector<complex_l> reference_transform(std::vector<complex_l> x, int sign);

/// This rank's part of bin f of N: sum over its points x_j, j from `first`, of x_j e^{sign 2 pi i j f / N}.
template <class Real>
complex_l partial_bin(std::span<const std::complex<Real>> x, std::int64_t first, std::int64_t n_points, std::int64_t f,
                      int sign);

/// The input of every run: a function of the global index, so that it does not depend on ranks. Both parts are
/// uniform in [-1, 1), from splitmix64, exact in single precision.
std::complex<double> random_point(std::int64_t j, std::uint64_t seed = 0);

} // namespace soi
