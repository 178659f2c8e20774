// SPDX-License-Identifier: Apache-2.0
// Wilson Dslash on a grid of ranks. Advantage: a real stencil whose faces matter, checked in every run. Disadvantage:
// one operator, not a solver, so nothing here reduces over the ranks while it is timed.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the lattice was refused.
#include "common/program.hpp"
#include "driver.hpp"
#include "runtime_session.hpp"

#include <algorithm>

namespace {

int thread_level_of(dslash::mode which, int n_lanes) {
    if (n_lanes > 1) return MPI_THREAD_MULTIPLE;
    for (const auto& m : dslash::modes()) {
        if (m.which == which) return m.thread_level;
    }
    return MPI_THREAD_MULTIPLE;
}

} // namespace

int main(int argc, char** argv) {
    dslash::parsed_options parsed = dslash::parse_options(argc, argv);
    dslash::options& settings = parsed.values;
    miniapp::program lqcd{.name = "lqcd_dslash",
                          .thread_level = thread_level_of(settings.which, settings.n_lanes),
                          .message = parsed.message,
                          .exit_code = parsed.exit_code,
                          .files = {{"--json", settings.json_file}},
                          .settle = [&](int n_ranks) { return dslash::settle(settings, n_ranks); },
                          .memory = [&](int, int) { return dslash::memory(settings); },
                          .run = {}};
    lqcd.run = [&](int rank) {
        dslash::run_report report;
        if (settings.bad == dslash::bad_habit::worker_on_computing_core) {
            dslash::bind_too_tightly(std::max(1, settings.n_cores - 1), rank);
        }
        {
            const dslash::runtime_session runtime(settings.which, settings.n_lanes);
            report = dslash::run(settings, MPI_COMM_WORLD);
        }
        if (rank != 0) return report.passed();
        dslash::print(report);
        const std::string why_not = settings.json_file.empty() ? "" : dslash::write_json(report, settings.json_file);
        return miniapp::was_written(lqcd, lqcd.files.front(), why_not) && report.passed();
    };
    return miniapp::run_program(argc, argv, lqcd);
}
