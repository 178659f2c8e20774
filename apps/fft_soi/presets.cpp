// SPDX-License-Identifier: Apache-2.0
// The table. Promises are measured against an 80-bit transform at N = 2^18 on four ranks with four segments each.
// A promise is held by tests/fft over many N, P and k; doubling it allows for other inputs and more segments.
#include "presets.hpp"

#include <algorithm>
#include <array>

namespace soi {

namespace {

constexpr auto kaiser = window_family::kaiser_bessel;

constexpr auto in_double = precision::double_;

constexpr std::array table{
    preset{"full", {5, 4, 36, kaiser, 0.8948, 33.9250}, 1e-15, in_double},
    preset{"d15", {5, 4, 32, kaiser, 0.8163, 34.0493}, 1.2e-15, in_double},
    preset{"d14", {5, 4, 24, kaiser, 0.5988, 33.9451}, 1.4e-14, in_double},
    preset{"d12", {5, 4, 16, kaiser, 0.2478, 31.4563}, 2.4e-12, in_double},
    preset{"d7", {5, 4, 12, kaiser, 0.6660, 15.6663}, 1.1e-7, in_double},
    preset{"thin", {9, 8, 72, kaiser, 0.9647, 32.2434}, 1.0e-15, in_double}, // 1.125 of the volume, twice the flops
    preset{"fat", {3, 2, 18, kaiser, 0.7931, 33.9410}, 1e-15, in_double},    // 1.5 of the volume, 0.6 of the flops
    preset{"f32", {5, 4, 16, kaiser, 0.8716, 15.7465}, 2.3e-7, precision::single},
    preset{"f32fat", {3, 2, 8, kaiser, 0.7125, 16.1387}, 2.3e-7, precision::single},
    preset{"gauss72", {5, 4, 72, window_family::gauss, 0.90625, 373.7314}, 1e-15, in_double}, // the published window
};

} // namespace

double epsilon(precision real) { return real == precision::double_ ? 0x1p-53 : 0x1p-24; }

std::span<const preset> presets() { return table; }

const preset* find_preset(std::string_view name) {
    const auto found = std::ranges::find(table, name, &preset::name);
    return found == table.end() ? nullptr : &*found;
}

double allowed_error(const preset* named, const window_quality& quality, precision real) {
    const double rounding = (real == precision::double_ ? 2e-15 : 6e-7) * std::max(1.0, quality.k_rms / 4);
    if (named != nullptr && named->made_for == real) return std::max(2 * named->promised, std::min(rounding, 2e-15));
    return std::max(2 * quality.predicted(epsilon(real)), rounding);
}

} // namespace soi
