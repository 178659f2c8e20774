// SPDX-License-Identifier: Apache-2.0
//
// Messages between partners: one starts and computes, the other comes in the middle of that; small ones to and fro without computing;
// and a sweep, as the solvers of NAS SP make it along each axis: at each of its stages a rank takes the face of its predecessor, goes
// on with its own part of the work while that comes, solves, and gives its face to its successor.
#include "node/exchange.h"

#include <array>
#include <vector>

namespace commtask::bench {
namespace {

constexpr int trips = 20;
constexpr int stages = 4;
constexpr long beside_face_us = 3000; ///< Of a stage: what needs no face.
constexpr long solving_us = 1000;     ///< Of a stage: what needs it.

/// Who comes first computes all the time after that; the other one a half before.
void message(const place& here, buffers& of, bool is_first, bool computes) {
    if (computes && !is_first) compute_elsewhere(computing_us / 2);
    const started running =
        here.receives() ? receive(of.received, here.partner(), 1) : send(of.sent, here.partner(), 1);
    if (computes) compute_elsewhere(is_first ? computing_us : computing_us / 2);
}

/// So many there and back.
void pingpong(const place& here, buffers& of, bool /*computes*/) {
    for (int i = 0; i < trips; ++i) {
        if (here.receives()) static_cast<void>(receive(of.received, here.partner(), 1));
        static_cast<void>(here.receives() ? send(of.received, here.partner(), 2) : send(of.sent, here.partner(), 1));
        if (!here.receives()) static_cast<void>(receive(of.received, here.partner(), 2));
    }
}

/// Every rank has a part of the work at each stage, as with cells along the diagonals.
void sweep_once(const place& here, buffers& of, bool computes) {
    const int from = (here.rank + here.n_ranks - 1) % here.n_ranks;
    const int to = (here.rank + 1) % here.n_ranks;
    for (int stage = 0; stage < stages; ++stage) {
        started face = receive(of.received, from, stage);
        const started own = send(of.sent, to, stage);
        if (computes) compute_elsewhere(beside_face_us);
        face.wait();
        if (computes) compute_elsewhere(solving_us);
    }
}

} // namespace

std::vector<question> messages(bool is_large_only) {
    const std::vector<int> all{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
    const std::vector<int> large{64 << 10, 256 << 10, 1 << 20};
    const std::vector<int>& sizes = is_large_only ? large : all;
    return {{"receiver early", sizes,
             [](const place& here, buffers& of, bool computes) { message(here, of, here.receives(), computes); },
             computing_us, true},
            {"sender early", sizes,
             [](const place& here, buffers& of, bool computes) { message(here, of, !here.receives(), computes); },
             computing_us, true}};
}

std::vector<question> small_messages() { return {{"way of a message", {8, 1 << 10, 8 << 10}, pingpong, 0}}; }

std::vector<question> sweep() {
    return {{"sweep", {64 << 10, 256 << 10}, sweep_once, stages * (beside_face_us + solving_us)}};
}

} // namespace commtask::bench
