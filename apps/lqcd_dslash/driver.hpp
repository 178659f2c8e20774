// SPDX-License-Identifier: Apache-2.0
// One run from fields to verdict. The order matters: everything that uses MPI directly happens before the mode starts
// or after it has ended, so that a mode may own MPI while it lives.
#pragma once

#include "common/report_json.hpp"
#include "options.hpp"
#include "verify.hpp"

namespace dslash {

/// Seconds per hop (one D_eo or D_oe).
using miniapp::timing;

struct run_report {
    options settings;
    int n_ranks = 1;
    coordinates lanes{};
    coordinates block{};
    int width_bytes = 0;
    /// Bytes of a register: `width_bytes` unless the lattice holds less or the user chose otherwise.
    int register_bytes = 0;
    int n_tiles = 0;
    int n_interior_tiles = 0;
    int compute_threads = 1;
    int cores = 1;
    std::array<std::size_t, n_directions> face_bytes{};
    double peak_gflops = 0;      ///< One core, double precision, measured beside the run.
    double message_seconds = 0;  ///< One hop's messages alone.
    std::vector<timing> repeats; ///< Sorted by slowest_total.
    golden_values golden;
    std::uint64_t fingerprint = 0;
    double scale = 0;
    std::vector<check> checks;

    const timing& median() const { return repeats[repeats.size() / 2]; }
    /// 1320 flops per site and hop, as Grid's Benchmark_wilson, Chroma and QPhiX count.
    double gflops(const timing& t) const;
    /// GF/s per core that computes, over the peak of one core.
    double peak_ratio(const timing& t) const;
};

inline constexpr int flops_per_site = 1320;

/// Collective over `comm`; the report is complete on every rank.
run_report run(const options& settings, MPI_Comm comm);

/// For people, to standard output, and for programs.
nlohmann::ordered_json tell(const run_report& report);

} // namespace dslash
