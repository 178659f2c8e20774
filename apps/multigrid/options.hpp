// SPDX-License-Identifier: Apache-2.0
// The command line, and what a run makes of it. What is wrong is kept as a sentence for rank 0 to print, so that all ranks
// leave together.
#pragma once

#include "common/memory.hpp"
#include "common/parsed.hpp"
#include "common/report.hpp"
#include "runner.hpp"

#include <string>

namespace multigrid {

struct options {
    mode_description how = modes().front();
    domain whole; ///< The cells of settled options.
    int box = 16;
    int n_cores = 1;
    int n_cycles = 10;
    int n_repeats = 5;
    int n_lanes = 1;
    bool is_selective = true;
    bool is_aggregated = true;
    bool is_fully_checked = false;
    std::string json_file;
};

miniapp::parsed<options> parse_options(int argc, const char* const* argv);
/// Chooses what was not said for `n_ranks`; gives the refusal, empty when all is well.
std::string settle(options& values, int n_ranks);
/// What a rank allocates; of settled options.
miniapp::memory_need memory(const options& values, int rank);
std::string to_string(const extents& values);

struct timing {
    double cycle_s, compute_s; ///< Of a V-cycle, on average over the ranks; of a compute thread.
    double slowest_s;          ///< Of the slowest rank.
};

struct run_report {
    options settings;
    int n_ranks = 1, compute_threads = 1;
    std::vector<timing> repeats; ///< Sorted by slowest_s.
    std::vector<double> residuals;
    double error = 0, order = 0;
    std::uint64_t fingerprint = 0;
    std::array<long, 2> sent{}; ///< Messages and bytes of all ranks in a V-cycle.
    std::vector<long> on_lane;  ///< Messages of all ranks in a V-cycle, by lane.
    std::vector<miniapp::check> checks;
    const timing& median() const { return repeats[repeats.size() / 2]; }
};

void print(const run_report& report);
/// Why it could not be written, empty when it was.
std::string write_json(const run_report& report, const std::string& file);

} // namespace multigrid
