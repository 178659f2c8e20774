// SPDX-License-Identifier: Apache-2.0
//
// Quantiles by sorting a copy: a benchmark has at most some 100 000 samples, so nothing cleverer is worth a bug.
// Between two samples they are linear, as in numpy's default.
#include "harness/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace commtask::bench {

double quantile(std::span<const double> sorted, double q) {
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(position));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - static_cast<double>(below);
    return sorted[below] + (weight * (sorted[above] - sorted[below]));
}

summary summarize(std::vector<double> samples) {
    if (samples.empty()) {
        return {};
    }
    std::ranges::sort(samples);
    return {.median = quantile(samples, 0.5),
            .p10 = quantile(samples, 0.1),
            .p90 = quantile(samples, 0.9),
            .p99 = quantile(samples, 0.99),
            .n_samples = samples.size()};
}

std::vector<double> paired_ratios(std::span<const round_samples> side, std::span<const round_samples> reference) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(side.size(), reference.size()); ++round) {
        const double divisor = summarize(reference[round]).median;
        if (!side[round].empty() && divisor != 0) {
            ratios.push_back(summarize(side[round]).median / divisor);
        }
    }
    return ratios;
}

std::vector<double> pooled(std::span<const round_samples> rounds) {
    std::vector<double> all;
    for (const round_samples& round : rounds) {
        all.insert(all.end(), round.begin(), round.end());
    }
    return all;
}

} // namespace commtask::bench
