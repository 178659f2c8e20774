// SPDX-License-Identifier: Apache-2.0
//
// What a benchmark says about a heap of samples: quantiles instead of means, since one descheduling on a shared
// machine moves a mean as far as it likes, and ratios taken pair by pair, since the speed of the machine itself
// drifts between the first round and the last.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace commtask::bench {

/// Quantiles of one set of samples, all in the unit of the samples.
struct summary {
    double median = 0;
    double p10 = 0;
    double p90 = 0;
    double p99 = 0;
    std::size_t n_samples = 0;
};

/// The value below which the fraction `q` (0 to 1) of the samples lies, linear between neighbours.
/// `sorted` must be ascending and not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// Quantiles of samples in any order; all zero with `n_samples` 0 when there are none.
[[nodiscard]] summary summarize(std::vector<double> samples);

/// One round of one side: all that was sampled before the other side had its turn.
using round_samples = std::vector<double>;

/// For every round the median of `side` over the median of `reference` in the same round. Rounds in which either
/// side has no sample, or the reference is zero, are left out.
[[nodiscard]] std::vector<double> paired_ratios(std::span<const round_samples> side,
                                                std::span<const round_samples> reference);

/// All samples of all rounds in one list.
[[nodiscard]] std::vector<double> pooled(std::span<const round_samples> rounds);

} // namespace commtask::bench
