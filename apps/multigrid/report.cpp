// SPDX-License-Identifier: Apache-2.0
// How a run is told: a few lines and one table for people, everything as JSON for programs.
// Both are made from the same numbers; what a table rounds, the JSON keeps.
#include "common/report_json.hpp"
#include "options.hpp"

#include <cinttypes>
#include <cstdio>

namespace multigrid {

void print(const run_report& r) {
    const options& s = r.settings;
    const timing& t = r.median();
    std::printf("multigrid: cells %s on grid %s, %ld boxes of %d per rank, mode %s, %d compute threads per rank\n",
                to_string(s.whole.cells).c_str(), to_string(s.whole.grid).c_str(), volume(s.whole.boxes()), s.box,
                s.how.name, r.compute_threads);
    std::printf("messages of a V-cycle, all ranks: %ld with %ld bytes, %s; on the lanes:", r.sent[0], r.sent[1],
                s.is_aggregated ? "one for each neighbour" : "one for each face of a box");
    for (const long n : r.on_lane) std::printf(" %ld", n);
    std::printf("; MPI: %s\n\n", miniapp::mpi_library().c_str());
    std::printf("per V-cycle [us]   compute     other     total\n%-16s%10.1f%10.1f%10.1f\n\n", s.how.name,
                t.compute_s * 1e6, (t.cycle_s - t.compute_s) * 1e6, t.cycle_s * 1e6);
    std::printf("%.2f million cells/s, median of %zu runs of %d V-cycles; slowest rank %.1f us, %.1f to %.1f\n",
                static_cast<double>(volume(s.whole.cells)) / t.slowest_s * 1e-6, r.repeats.size(), s.n_cycles,
                t.slowest_s * 1e6, r.repeats.front().slowest_s * 1e6, r.repeats.back().slowest_s * 1e6);
    std::printf("largest residual:");
    for (const double each : r.residuals) std::printf(" %.1e", each);
    std::printf("\nlargest error %.3e, order %.3f; fingerprint %016" PRIx64 "\n", r.error, r.order, r.fingerprint);
    miniapp::print_checks(r.checks);
}

std::string write_json(const run_report& r, const std::string& file) {
    const options& s = r.settings;
    const auto times = [](const timing& t) {
        return nlohmann::json{
            {"compute_us", t.compute_s * 1e6}, {"total_us", t.cycle_s * 1e6}, {"slowest_total_us", t.slowest_s * 1e6}};
    };
    char fingerprint[17];
    std::snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, r.fingerprint);
    nlohmann::json all{{"program", "multigrid"},
                       {"cells", s.whole.cells},
                       {"grid", s.whole.grid},
                       {"box", s.box},
                       {"boxes", volume(s.whole.boxes())},
                       {"mode", s.how.name},
                       {"ghosts", s.is_aggregated ? "aggregated" : "faces"},
                       {"lanes", s.n_lanes},
                       {"selective", s.is_selective},
                       {"ranks", r.n_ranks},
                       {"compute_threads", r.compute_threads},
                       {"cycles", s.n_cycles},
                       {"mpi_library", miniapp::mpi_library()},
                       {"messages", r.sent[0]},
                       {"bytes", r.sent[1]},
                       {"messages_on_lane", r.on_lane},
                       {"median", times(r.median())},
                       {"residuals", r.residuals},
                       {"error", r.error},
                       {"order", r.order},
                       {"fingerprint", fingerprint}};
    for (const timing& t : r.repeats) all["repeats"].push_back(times(t));
    return miniapp::write_report(std::move(all), r.checks, file);
}

} // namespace multigrid
