// SPDX-License-Identifier: Apache-2.0
// The window that cuts the spectrum into segments, and how good it is. Everything is evaluated in long double, once,
// when a plan is made: rounding the taps once is worth a factor of three in the error of the whole transform.
#pragma once

#include <vector>

namespace soi {

enum class window_family {
    kaiser_bessel, ///< sinc(tau t) times I0(b sqrt(1 - (t/T)^2)) / I0(b): half the taps of the published one.
    gauss,         ///< sinc(tau t) times exp(-(pi t)^2 / sigma), cut at T: the published window.
};

/// t is measured in rows (S samples), u in segments' bandwidths; the window is zero for |t| > width / 2.
struct window_parameters {
    int n = 5;      ///< Oversampling mu = n / d.
    int d = 4;      ///< Even.
    int width = 36; ///< B, in rows.
    window_family family = window_family::kaiser_bessel;
    double tau = 0.8948;
    double shape = 33.925; ///< b, or sigma of the Gaussian.

    double mu() const { return static_cast<double>(n) / d; }
    int taps() const { return width + d; } ///< U: taps that any of the n phases has.
};

/// omega(t): real, even. `t` in rows.
class window {
public:
    explicit window(const window_parameters& parameters);
    long double at(long double t) const;

private:
    window_parameters parameters_;
    long double at_zero_ = 1; ///< I0(b).
};

/// What(u) = integral of omega(t) cos(2 pi u t), taken as the sum over a grid of 1 / density rows, so that what the
/// truncation of the window does is in it and is divided out of the result too.
class window_spectrum {
public:
    window_spectrum(const window_parameters& parameters, int density);
    long double at(long double u) const;

private:
    std::vector<long double> taps_; ///< omega(i / density) for i = 0, 1, ...
    int density_;
};

/// What on [0, 1/2], interpolated: it is an entire function, so a few dozen Chebyshev nodes give all digits.
class passband {
public:
    passband(const window_parameters& parameters, int density);
    long double at(long double u) const;

private:
    std::vector<long double> coefficients_; ///< Of T_j(8 u^2 - 1): What is even.
};

/// All relative to the root mean square of the result.
struct window_quality {
    double alias_rms = 0; ///< Random input: what other segments leave in a segment.
    double alias_max = 0; ///< The worst tone in another segment.
    double kappa = 0;     ///< Largest over smallest What in the segment: how much its edges amplify rounding.
    double k_rms = 0;     ///< Amplification of rounding, root mean square.

    /// Relative error to expect for random input where the machine rounds with `epsilon`.
    double predicted(double epsilon) const;
};

window_quality assess(const window_parameters& parameters);

} // namespace soi
