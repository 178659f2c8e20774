// SPDX-License-Identifier: Apache-2.0
// How a run is told: a few lines and one table for people, everything as JSON for programs.
// Both are made from the same numbers; what a table rounds, the JSON keeps.
#include "driver.hpp"

#include "common/report_json.hpp"

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace dslash {

namespace {

const char* name_of(mode which) {
    for (const mode_description& m : modes()) {
        if (m.which == which) return m.name;
    }
    return "?";
}

const char* name_of(precision real) { return real == precision::double_ ? "double" : "single"; }

const char* name_of(check_level level) {
    switch (level) {
    case check_level::none: return "none";
    case check_level::golden: return "golden";
    case check_level::full: break;
    }
    return "full";
}

/// |M psi|^2 for M = 1 - kappa D, from the other values.
double norm2_m_psi(const run_report& r) {
    const double kappa = r.settings.kappa;
    return r.golden.norm2_psi - 2 * kappa * r.golden.psi_d_psi.real() + kappa * kappa * r.golden.norm2_d_psi;
}

void print_golden(const run_report& r) {
    const golden_values& g = r.golden;
    std::printf("golden values (fields generated from the site number, antiperiodic T)\n");
    std::printf("  plaquette/3       % .15g\n", g.plaquette);
    std::printf("  |psi|^2           % .15g\n", g.norm2_psi);
    std::printf("  |D psi|^2         % .15g\n", g.norm2_d_psi);
    std::printf("  <psi,D psi>       % .15g %+.15gi\n", g.psi_d_psi.real(), g.psi_d_psi.imag());
    std::printf("  |D_eo psi_o|^2    % .15g\n", g.norm2_d_eo_psi_o);
    std::printf("  |M psi|^2         % .15g  (M = 1 - kappa D, kappa = %g)\n", norm2_m_psi(r), r.settings.kappa);
    for (std::size_t k = 0; k < 12; ++k) {
        const complex c = g.d_psi_at_origin[k / 3][k % 3];
        std::printf("  (D psi)(0)[%zu][%zu]  % .15g %+.15gi\n", k / 3, k % 3, c.real(), c.imag());
    }
}

nlohmann::json to_json(const timing& t, const run_report& r) {
    return {{"internal_us", t.phases.interior * 1e6},
            {"post_us", t.phases.post * 1e6},
            {"wait_us", t.phases.wait * 1e6},
            {"misc_us", t.phases.misc() * 1e6},
            {"total_us", t.phases.total * 1e6},
            {"slowest_total_us", t.slowest_total * 1e6},
            {"overlap", r.overlap(t)},
            {"gflops", r.gflops(t)},
            {"peak_ratio", r.peak_ratio(t)}};
}

} // namespace

void print(const run_report& r) {
    const options& s = r.settings;
    const timing& t = r.median();
    std::printf("lqcd_dslash: lattice %s on grid %s, %s precision, %d-real links, mode %s%s\n",
                to_string(*s.lattice).c_str(), to_string(*s.grid).c_str(), name_of(s.kernel.real), s.kernel.link_reals,
                name_of(s.which), s.force_comm ? ", all directions by messages" : "");
    if (s.bad != bad_habit::none) std::printf("on purpose badly: %s\n", name_of(s.bad));
    std::printf("SIMD: %d bytes, lanes %s%s\n", r.width_bytes, to_string(r.lanes).c_str(),
                r.width_bytes == r.widest_possible ? ""
                : s.kernel.width_bytes != 0        ? " (as asked)"
                                                   : " (the widest that fits the local extents)");
    std::printf("tiles: %d per hop, %d of them interior, blocks %s; %d compute threads, %d cores per rank\n", r.n_tiles,
                r.n_interior_tiles, to_string(r.block).c_str(), r.compute_threads, r.cores);
    std::size_t sent = 0;
    for (const std::size_t bytes : r.face_bytes) sent += bytes;
    std::printf("messages: %zu bytes per rank and hop, %.2f us alone; MPI: %s\n\n", sent, r.message_seconds * 1e6,
                r.mpi_library.c_str());
    std::printf("per hop [us]  internal      post      wait      misc     total   overlap\n");
    std::printf("%-12s%10.2f%10.2f%10.2f%10.2f%10.2f", name_of(s.which), t.phases.interior * 1e6, t.phases.post * 1e6,
                t.phases.wait * 1e6, t.phases.misc() * 1e6, t.phases.total * 1e6);
    if (sent > 0) {
        std::printf("%9.0f%%\n\n", r.overlap(t) * 100);
    } else {
        std::printf("         -\n\n");
    }
    std::printf("%.2f GF/s (%d flops per site), median of %zu runs of %d iterations, %.2f to %.2f\n", r.gflops(t),
                flops_per_site, r.repeats.size(), s.iterations, r.gflops(r.repeats.back()),
                r.gflops(r.repeats.front()));
    std::printf("%.3f of the double-precision peak per compute thread (%.1f GF/s, measured in this run)\n\n",
                r.peak_ratio(t), r.peak_gflops);
    if (s.check != check_level::none) print_golden(r);
    std::printf("chain fingerprint %016" PRIx64 "\n", r.fingerprint);
    miniapp::print_checks(r.checks);
}

std::string write_json(const run_report& r, const std::string& file) {
    const options& s = r.settings;
    nlohmann::json all;
    all["program"] = "lqcd_dslash";
    all["lattice"] = *s.lattice;
    all["grid"] = *s.grid;
    all["precision"] = name_of(s.kernel.real);
    all["mode"] = name_of(s.which);
    all["links"] = s.kernel.link_reals;
    all["force_comm"] = s.force_comm;
    all["iterations"] = s.iterations;
    all["ranks"] = r.n_ranks;
    all["compute_threads"] = r.compute_threads;
    all["cores"] = r.cores;
    all["simd_bytes"] = r.width_bytes;
    all["lanes"] = r.lanes;
    all["block"] = r.block;
    all["tiles"] = r.n_tiles;
    all["interior_tiles"] = r.n_interior_tiles;
    all["mpi_library"] = r.mpi_library;
    all["face_bytes"] = r.face_bytes;
    all["messages_us"] = r.message_seconds * 1e6;
    all["flops_per_site"] = flops_per_site;
    all["peak_gflops"] = r.peak_gflops;
    all["median"] = to_json(r.median(), r);
    for (const timing& t : r.repeats) all["repeats"].push_back(to_json(t, r));
    char fingerprint[17];
    std::snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, r.fingerprint);
    all["fingerprint"] = fingerprint;
    all["scale"] = r.scale;
    all["check"] = name_of(s.check);
    if (s.check != check_level::none) {
        const golden_values& g = r.golden;
        auto& golden = all["golden"];
        golden["plaquette"] = g.plaquette;
        golden["norm2_psi"] = g.norm2_psi;
        golden["norm2_d_psi"] = g.norm2_d_psi;
        golden["psi_d_psi"] = {g.psi_d_psi.real(), g.psi_d_psi.imag()};
        golden["norm2_d_eo_psi_o"] = g.norm2_d_eo_psi_o;
        golden["kappa"] = s.kappa;
        golden["norm2_m_psi"] = norm2_m_psi(r);
        for (const auto& colours : g.d_psi_at_origin) {
            for (const complex c : colours) golden["d_psi_at_origin"].push_back({c.real(), c.imag()});
        }
    }
    return miniapp::write_report(std::move(all), r.checks, file);
}

} // namespace dslash
