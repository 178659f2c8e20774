// SPDX-License-Identifier: Apache-2.0
// One run from input to verdict. The order matters: everything that uses MPI directly happens before the schedule
// starts or after it has ended, so that a schedule may own MPI while it lives.
#pragma once

#include "common/report.hpp"
#include "options.hpp"

namespace soi {

struct timing {
    tiled::phase_times phases; ///< Mean over the ranks.
    double slowest_total = 0;  ///< Of the slowest rank: what GF/s are computed from.
};

struct run_report {
    options settings;
    int n_ranks = 1;
    int compute_threads = 1;
    int cores = 1;
    std::string mpi_library;
    shape sizes{};          ///< Of the SOI transform; unset for six-step.
    window_quality quality; ///< Likewise.
    int n_chunks = 0;
    std::size_t message_bytes = 0;  ///< The largest message.
    tiled::traffic traffic;         ///< Of one rank and transform, by the formula.
    double table_seconds = 0;       ///< Planning without FFTW's part.
    double plan_seconds = 0;        ///< With it.
    double message_seconds = 0;     ///< The messages alone.
    std::vector<timing> repeats;    ///< Sorted by slowest_total.
    std::vector<tiled::span> trace; ///< Of the last run on this rank, where wanted.
    std::uint64_t fingerprint = 0;
    std::vector<miniapp::check> checks;
    std::string no_wisdom; ///< Why FFTW's plans were not kept, on rank 0; empty when they were or nobody asked.

    const timing& median() const { return repeats[repeats.size() / 2]; }
    /// 5 N log2 N per transform, as everybody counts, whatever was computed.
    double gflops(const timing& t) const;
    /// Share of the messages' time that was hidden: 1 - (post + wait) / messages alone, within [0, 1].
    double overlap(const timing& t) const;
    bool passed() const { return miniapp::all_passed(checks); }
};

/// Collective over `comm`; the report is complete on every rank, but for the trace.
run_report run(const options& settings, MPI_Comm comm);

/// For people, to standard output.
void print(const run_report& report);
/// Everything, to a file; why it could not be written, empty when it was.
std::string write_json(const run_report& report, const std::string& file);
/// Every rank's timeline, by rank 0; why it could not be written. Collective.
std::string write_trace(const run_report& report, const std::string& file, MPI_Comm comm);

} // namespace soi
