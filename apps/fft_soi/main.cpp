// SPDX-License-Identifier: Apache-2.0
// A one-dimensional FFT over MPI ranks by segment-of-interest convolution: one all-to-all of mu N instead of three of N.
// Advantage: half the traffic, and a pipeline that can hide it. Disadvantage: a convolution, 200 flops per point.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the sizes were refused.
#include "common/program.hpp"
#include "common/runtime_session.hpp"
#include "driver.hpp"
#include "wisdom.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
    soi::parsed_options parsed = soi::parse_options(argc, argv);
    const soi::options& settings = parsed.values;
    const tiled::mode_description& mode = tiled::describe(settings.which);
    miniapp::program fft{.name = "fft_soi",
                         .thread_level = settings.n_lanes > 1 ? MPI_THREAD_MULTIPLE : mode.thread_level,
                         .message = parsed.message,
                         .exit_code = parsed.exit_code,
                         .files = {{"--json", settings.json_file}, {"--trace", settings.trace_file}},
                         .settle = [&](int n_ranks) { return soi::settle(settings, n_ranks); },
                         .memory = [&](int rank, int n_ranks) { return soi::memory(settings, rank, n_ranks); },
                         .look_at_files = [&] { return soi::refuse_wisdom(settings.wisdom_file); },
                         .run = {}};
    fft.run = [&](int rank) {
        soi::run_report report;
        {
            // Chunks and segments have priorities of their own in mode omp; the user's own value stays.
            ::setenv("OMP_MAX_TASK_PRIORITY", "64", 0);
            const miniapp::runtime_session runtime(mode.needs_runtime, settings.n_lanes);
            report = soi::run(settings, MPI_COMM_WORLD);
        }
        const bool wants_trace = !settings.trace_file.empty();
        const std::string no_trace = wants_trace ? soi::write_trace(report, settings.trace_file, MPI_COMM_WORLD) : "";
        if (rank != 0) return report.passed();
        soi::print(report);
        const std::string no_json = settings.json_file.empty() ? "" : soi::write_json(report, settings.json_file);
        bool is_good = report.passed();
        is_good = miniapp::was_written(fft, fft.files[0], no_json) && is_good;
        is_good = miniapp::was_written(fft, fft.files[1], no_trace) && is_good;
        return miniapp::was_written(fft, {"--wisdom", settings.wisdom_file}, report.no_wisdom) && is_good;
    };
    return miniapp::run_program(argc, argv, fft);
}
