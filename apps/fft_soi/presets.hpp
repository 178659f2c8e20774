// SPDX-License-Identifier: Apache-2.0
// Windows with a name and a promise: the relative l2 error that they were measured to reach. The numbers come from a
// search over (tau, b) that weighs aliasing against rounding; apps/fft_soi/README.md says when to choose which.
#pragma once

#include "window.hpp"

#include <span>
#include <string_view>

namespace soi {

enum class precision { double_, single };

/// Unit roundoff.
double epsilon(precision real);

struct preset {
    std::string_view name;
    window_parameters window;
    double promised;    ///< Relative l2 error for random input, in the precision that it is made for.
    precision made_for; ///< Presets for double also run in single where `kappa` allows.
};

std::span<const preset> presets();

/// Null when there is none of this name.
const preset* find_preset(std::string_view name);

/// Largest relative l2 error that a run with this window may show: twice the promise, or what rounding allows.
double allowed_error(const preset* named, const window_quality& quality, precision real);

} // namespace soi
