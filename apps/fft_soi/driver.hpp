// SPDX-License-Identifier: Apache-2.0
// One run from input to verdict. The order matters: everything that uses MPI directly happens before the schedule
// starts or after it has ended, so that a schedule may own MPI while it lives.
#pragma once

#include "common/report_json.hpp"
#include "options.hpp"

namespace soi {

using miniapp::timing;

struct run_report {
    options settings;
    int n_ranks = 1;
    int compute_threads = 1;
    int cores = 1;
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
};

/// Collective over `comm`; the report is complete on every rank, but for the trace.
run_report run(const options& settings, MPI_Comm comm);

/// For people, to standard output, and for programs.
nlohmann::ordered_json tell(const run_report& report);
/// Every rank's timeline, by rank 0; why it could not be written. Collective.
std::string write_trace(const run_report& report, const std::string& file, MPI_Comm comm);

} // namespace soi
