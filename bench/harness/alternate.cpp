// SPDX-License-Identifier: Apache-2.0
//
// The rotation of sides. Warm-up rounds rotate as well, so that every side has been first once nothing is cold.
// A side keeps its samples by round: pooled ones could no longer be paired with the other side's.
#include "harness/alternate.h"

namespace commtask::bench {

std::vector<series> alternate(std::span<const side> sides, std::size_t n_rounds, std::size_t n_warm_up) {
    std::vector<series> all;
    for (const side& one : sides) {
        all.push_back({.name = one.name, .unit = one.unit, .rounds = std::vector<round_samples>(n_rounds)});
    }
    for (std::size_t turn = 0; turn < n_warm_up + n_rounds; ++turn) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const std::size_t which = (i + turn) % sides.size();
            round_samples thrown_away;
            sides[which].measure(turn < n_warm_up ? thrown_away : all[which].rounds[turn - n_warm_up]);
        }
    }
    return all;
}

} // namespace commtask::bench
