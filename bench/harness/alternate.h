// SPDX-License-Identifier: Apache-2.0
//
// Both sides of a comparison in one run: every round measures each side once, and the side that begins moves on by
// one per round, so that neither always runs on the warmer cache or in the slower half of a disturbed second.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace commtask::bench {

/// One round of one side: all that was sampled before the other side had its turn.
using round_samples = std::vector<double>;

/// One thing measured. `measure` appends the samples of one round, all in `unit`.
struct side {
    std::string name;
    std::string unit;
    std::function<void(round_samples&)> measure;
};

/// What came out for one side, round by round.
struct series {
    std::string name;
    std::string unit;
    std::vector<round_samples> rounds;
};

/// Runs `n_warm_up` rounds that are thrown away, then `n_rounds` that are kept. One series per side, in the order of
/// the sides.
[[nodiscard]] std::vector<series> alternate(std::span<const side> sides, std::size_t n_rounds,
                                            std::size_t n_warm_up = 1);

} // namespace commtask::bench
