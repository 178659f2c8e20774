// SPDX-License-Identifier: Apache-2.0
// Arguments of the window come from exact integers and one division: computed in floating point from b d / n and p / S
// they would be off by T eps, which costs a factor of three in the result. Phases too are reduced in integers.
#include "tables.hpp"

#include <cmath>
#include <numbers>

namespace soi {

namespace {

constexpr long double pi = std::numbers::pi_v<long double>;

using complex_l = std::complex<long double>;

template <class Real>
void fill_taps(const shape& of, tables<Real>& out) {
    constexpr int lanes = complex_lanes<Real>;
    const window_parameters& w = of.window;
    const window omega(w);
    const int n_tiles = out.padded_segments / lanes;
    const int taps = w.taps();
    const index_type s = of.all_segments;
    const long double inverse_mu = static_cast<long double>(w.d) / w.n;
    out.taps =
        aligned_array<Real>(static_cast<std::size_t>(n_tiles) * static_cast<std::size_t>(taps * w.n * lanes) * 2);
#pragma omp parallel for schedule(static)
    for (int tile = 0; tile < n_tiles; ++tile) {
        Real* to = out.taps.data() + static_cast<std::ptrdiff_t>(tile) * taps * w.n * lanes * 2;
        for (int i = 0; i < taps; ++i) {
            for (int b = 0; b < w.n; ++b) {
                for (int lane = 0; lane < lanes; ++lane) {
                    const index_type p = static_cast<index_type>(tile) * lanes + lane;
                    // t = b d / n + T - i - p / S
                    const index_type numerator = 2 * b * w.d * s + w.width * w.n * s - 2 * i * w.n * s - 2 * p * w.n;
                    const long double t = static_cast<long double>(numerator) / static_cast<long double>(2 * w.n * s);
                    const long double tap = p < s ? inverse_mu * omega.at(t) * (i % 2 == 0 ? 1 : -1) : 0;
                    *to++ = static_cast<Real>(tap);
                    *to++ = static_cast<Real>(tap);
                }
            }
        }
    }
}

template <class Real>
void fill_twiddles(const shape& of, int sign, tables<Real>& out) {
    const auto size = static_cast<std::size_t>(out.padded_segments);
    out.twiddle_same = aligned_array<Real>(2 * size);
    out.twiddle_swapped = aligned_array<Real>(2 * size);
    for (std::size_t p = 0; p < size; ++p) {
        const long double angle = sign * pi * static_cast<long double>(p) / of.all_segments;
        out.twiddle_same[2 * p] = out.twiddle_same[2 * p + 1] = static_cast<Real>(std::cos(angle));
        out.twiddle_swapped[2 * p] = static_cast<Real>(-std::sin(angle));
        out.twiddle_swapped[2 * p + 1] = static_cast<Real>(std::sin(angle));
    }
}

template <class Real>
void fill_demodulation(const shape& of, int sign, long double scale, tables<Real>& out) {
    const index_type m_points = of.segment_points;
    const index_type half = m_points / 2;
    const passband what(of.window, of.all_segments);
    const roots_of_unity<long double> root(2 * m_points);
    out.demodulation = aligned_array<std::complex<Real>>(static_cast<std::size_t>(m_points));
    // The bins f and -f share What and have conjugate phases. Phase of E: sign 2 pi T f / M = sign 2 pi B f / (2 M).
#pragma omp parallel for schedule(static)
    for (index_type f = 0; f <= half; ++f) {
        const long double u = static_cast<long double>(f) / static_cast<long double>(m_points);
        const long double magnitude = scale / what.at(u);
        const complex_l phase = root(of.window.width * f % (2 * m_points));
        const auto value = [&](int direction) {
            return std::complex<Real>(static_cast<Real>(magnitude * phase.real()),
                                      static_cast<Real>(magnitude * direction * phase.imag()));
        };
        if (f < half) out.demodulation[static_cast<std::size_t>(half + f)] = value(sign);
        if (f > 0) out.demodulation[static_cast<std::size_t>(half - f)] = value(-sign);
    }
}

} // namespace

template <class Real>
tables<Real> make_tables(const shape& of, int sign, long double scale) {
    constexpr int lanes = complex_lanes<Real>;
    tables<Real> out;
    out.padded_segments = (of.all_segments + lanes - 1) / lanes * lanes;
    fill_taps(of, out);
    fill_twiddles(of, sign, out);
    fill_demodulation(of, sign, scale, out);
    return out;
}

template tables<double> make_tables(const shape&, int, long double);
template tables<float> make_tables(const shape&, int, long double);

} // namespace soi
