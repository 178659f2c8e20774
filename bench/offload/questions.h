// SPDX-License-Identifier: Apache-2.0
//
// The questions of bench_offload. The program is plain MPI and knows nothing of commtask, since it must run unchanged in
// every way that is compared: natively, under commtask-run, with MPICH's own progress thread.
// So a side is a whole run, and bench/offload.py alternates runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/answers.h"

namespace commtask::bench::offload {

using bench::answers;

struct place {
    int rank = 0;
    int partner = 0; ///< The other of the two ranks.
};

/// The sizes of messages, in bytes, from `first` to `last`, each `factor` times the one before.
[[nodiscard]] std::vector<int> sizes_in_bytes(int first, int last, int factor);

/// How many samples a message of this size gets: `most` for small ones, fewer where one takes long.
[[nodiscard]] int n_samples_of(int size_bytes, int most);

/// How long the call takes that starts a message or a collective, by size. The receive of a message is posted already.
void ask_post(const place& here, int most_samples, answers& out);

/// How much of an exchange of two messages hides behind computing of the same length that leaves the core. The overlap
/// is 1 - (post + wait) / exchange, in percent, never below zero.
void ask_overlap(const place& here, int most_samples, answers& out);

/// The time of steps of programs that make progress themselves, and the processor time of other threads beside them.
void ask_harmless(const place& here, int most_samples, answers& out);

/// Round trips of blocking messages by one thread.
void ask_ping_pong(const place& here, int most_samples, answers& out);

} // namespace commtask::bench::offload
