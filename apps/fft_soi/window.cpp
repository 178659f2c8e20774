// SPDX-License-Identifier: Apache-2.0
// I0 by its power series: all terms are positive, so no digit is lost for any b in use (up to 70), and the quotient of
// two of them needs no care about cancellation in b (z - 1), which costs digits in double precision.
#include "window.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace soi {

namespace {

constexpr long double pi = std::numbers::pi_v<long double>;

long double bessel_i0(long double x) {
    const long double quarter = x * x / 4;
    long double term = 1;
    long double sum = 1;
    for (int k = 1; term > sum * 1e-22L; ++k) {
        term *= quarter / (static_cast<long double>(k) * k);
        sum += term;
    }
    return sum;
}

long double sinc(long double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); }

} // namespace

window::window(const window_parameters& parameters) : parameters_(parameters) {
    if (parameters.family == window_family::kaiser_bessel) at_zero_ = bessel_i0(parameters.shape);
}

long double window::at(long double t) const {
    const long double half = parameters_.width / 2.0L;
    t = std::abs(t);
    if (t > half) return 0;
    const long double body = sinc(parameters_.tau * t);
    if (parameters_.family == window_family::gauss) {
        return body * std::exp(-(pi * t) * (pi * t) / static_cast<long double>(parameters_.shape));
    }
    const long double z = std::sqrt((half - t) * (half + t)) / half;
    return body * bessel_i0(parameters_.shape * z) / at_zero_;
}

window_spectrum::window_spectrum(const window_parameters& parameters, int density) : density_(density) {
    const window omega(parameters);
    const int last = parameters.width * density / 2;
    taps_.reserve(static_cast<std::size_t>(last) + 1);
    for (int i = 0; i <= last; ++i) taps_.push_back(omega.at(static_cast<long double>(i) / density));
}

long double window_spectrum::at(long double u) const {
    const long double step = 2 * pi * u / density_;
    // From the smallest terms to the largest.
    long double sum = 0;
    for (std::size_t i = taps_.size() - 1; i > 0; --i) sum += taps_[i] * std::cos(step * static_cast<long double>(i));
    return (taps_[0] + 2 * sum) / density_;
}

passband::passband(const window_parameters& parameters, int density) {
    const window_spectrum exact(parameters, density);
    const int n_nodes = 24 + parameters.width / 2;
    std::vector<long double> values(static_cast<std::size_t>(n_nodes));
    std::vector<long double> cosines(4 * static_cast<std::size_t>(n_nodes));
    for (std::size_t j = 0; j < cosines.size(); ++j) {
        cosines[j] = std::cos(pi * static_cast<long double>(j) / (2 * n_nodes));
    }
#pragma omp parallel for schedule(static)
    for (int j = 0; j < n_nodes; ++j) {
        const long double s = (1 + cosines[static_cast<std::size_t>(2 * j + 1)]) / 2; // (2 u)^2
        values[static_cast<std::size_t>(j)] = exact.at(std::sqrt(s) / 2);
    }
    coefficients_.resize(static_cast<std::size_t>(n_nodes));
    for (int k = 0; k < n_nodes; ++k) {
        long double sum = 0;
        for (int j = 0; j < n_nodes; ++j) {
            sum += values[static_cast<std::size_t>(j)] *
                   cosines[static_cast<std::size_t>(k * (2 * j + 1)) % cosines.size()];
        }
        coefficients_[static_cast<std::size_t>(k)] = sum * (k == 0 ? 1 : 2) / n_nodes;
    }
}

long double passband::at(long double u) const {
    // Clenshaw's recurrence; in double precision it would lose three digits at the edges of the segment.
    const long double y = 2 * (2 * u) * (2 * u) - 1;
    long double b1 = 0;
    long double b2 = 0;
    for (std::size_t k = coefficients_.size() - 1; k > 0; --k) {
        const long double b0 = coefficients_[k] + 2 * y * b1 - b2;
        b2 = b1;
        b1 = b0;
    }
    return coefficients_[0] + y * b1 - b2;
}

double window_quality::predicted(double epsilon) const { return std::hypot(alias_rms, 1.2 * epsilon * k_rms); }

window_quality assess(const window_parameters& parameters) {
    constexpr int density = 16;
    constexpr int n_points = 32;
    constexpr int n_images = 4;
    const window_spectrum what(parameters, density);
    const long double mu = static_cast<long double>(parameters.n) / parameters.d;
    long double alias_square = 0;
    long double alias_max = 0;
    long double inverse_square = 0;
    long double energy = 0;
    long double largest = 0;
    long double smallest = HUGE_VALL;
    for (int j = 0; j <= n_points; ++j) {
        const long double u = 0.5L * j / n_points;
        const long double weight = j == 0 || j == n_points ? 0.5L : 1;
        const long double here = std::abs(what.at(u));
        long double square = 0;
        long double sum = 0;
        for (int l = 1; l <= n_images; ++l) {
            for (const long double image : {u + l * mu, u - l * mu}) {
                const long double value = std::abs(what.at(image));
                square += value * value;
                sum += value;
            }
        }
        alias_square += weight * square / (here * here);
        alias_max = std::max(alias_max, sum / here);
        inverse_square += weight / (here * here);
        largest = std::max(largest, here);
        smallest = std::min(smallest, here);
        // The energy lies in |u| < mu - 1/2, which is at most twice the passband.
        const long double outside = what.at(u + 0.5L);
        energy += weight * (here * here + outside * outside);
    }
    window_quality quality;
    quality.alias_rms = static_cast<double>(std::sqrt(alias_square / n_points));
    quality.alias_max = static_cast<double>(alias_max);
    quality.kappa = static_cast<double>(largest / smallest);
    quality.k_rms = static_cast<double>(std::sqrt(energy / n_points * inverse_square / n_points / mu));
    return quality;
}

} // namespace soi
