// SPDX-License-Identifier: Apache-2.0
// A one-dimensional FFT over MPI ranks by segment-of-interest convolution: one all-to-all of mu N instead of three of N.
// Advantage: half the traffic, and a pipeline that can hide it. Disadvantage: a convolution, 200 flops per point.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the sizes were refused.
#include "driver.hpp"
#include "wisdom.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
    soi::parsed_options parsed = soi::parse_options(argc, argv);
    const soi::options& settings = parsed.values;
    // Chunks and segments have priorities of their own in mode omp; the user's own value stays.
    ::setenv("OMP_MAX_TASK_PRIORITY", "64", 0);
    return miniapp::run_program(argc, argv,
                                {.name = "fft_soi",
                                 .usual = settings,
                                 .leaves = parsed,
                                 .files = {{"--trace", settings.trace_file}},
                                 .settle = [&](int n_ranks) { return soi::settle(settings, n_ranks); },
                                 .memory = [&](int rank, int n_ranks) { return soi::memory(settings, rank, n_ranks); },
                                 .look_at_files = [&] { return soi::refuse_wisdom(settings.wisdom_file); },
                                 .run = [&](int) { return soi::run(settings, MPI_COMM_WORLD); }});
}
