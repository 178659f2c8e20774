// SPDX-License-Identifier: Apache-2.0
// How a run is told: a few lines and one table for people, everything as JSON for programs.
// Both are made from the same numbers; what a table rounds, the JSON keeps.
#include "driver.hpp"

#include <algorithm>

namespace dslash {

namespace {

/// |M psi|^2 for M = 1 - kappa D, from the other values.
double norm2_m_psi(const run_report& r) {
    const double kappa = r.settings.kappa;
    return r.golden.norm2_psi - 2 * kappa * r.golden.psi_d_psi.real() + kappa * kappa * r.golden.norm2_d_psi;
}

nlohmann::ordered_json golden_json(const run_report& r) {
    const golden_values& g = r.golden;
    nlohmann::ordered_json golden{{"plaquette", g.plaquette},
                                  {"norm2_psi", g.norm2_psi},
                                  {"norm2_d_psi", g.norm2_d_psi},
                                  {"psi_d_psi", {g.psi_d_psi.real(), g.psi_d_psi.imag()}},
                                  {"norm2_d_eo_psi_o", g.norm2_d_eo_psi_o},
                                  {"kappa", r.settings.kappa},
                                  {"norm2_m_psi", norm2_m_psi(r)}};
    for (const auto& colours : g.d_psi_at_origin) {
        for (const complex c : colours) golden["d_psi_at_origin"].push_back({c.real(), c.imag()});
    }
    return golden;
}

} // namespace

nlohmann::ordered_json tell(const run_report& r) {
    const options& s = r.settings;
    std::size_t sent = 0;
    for (const std::size_t bytes : r.face_bytes) sent += bytes;
    nlohmann::ordered_json all{{"program", "lqcd_dslash"},
                               {"lattice", *s.lattice},
                               {"grid", *s.grid},
                               {"precision", precision_names[static_cast<std::size_t>(s.kernel.real)]},
                               {"links", s.kernel.link_reals},
                               {"force_comm", s.force_comm},
                               {"bad", bad_names[static_cast<std::size_t>(s.bad)]},
                               {"iterations", s.iterations},
                               {"ranks", r.n_ranks},
                               {"compute_threads", r.compute_threads},
                               {"cores", r.cores},
                               {"simd_bytes", r.width_bytes},
                               {"register_bytes", r.register_bytes},
                               {"lanes", r.lanes},
                               {"block", r.block},
                               {"tiles", r.n_tiles},
                               {"interior_tiles", r.n_interior_tiles},
                               {"face_bytes", r.face_bytes},
                               {"messages_us", r.message_seconds * 1e6},
                               {"flops_per_site", flops_per_site},
                               {"peak_gflops", r.peak_gflops},
                               {"scale", r.scale},
                               {"check", check_names[static_cast<std::size_t>(s.check)]}};
    if (s.check != check_level::none) all["golden"] = golden_json(r);
    all["fingerprint"] = miniapp::fingerprint_text(r.fingerprint);
    miniapp::tell_times(all, describe(s.which).name, r.repeats, sent > 0 ? r.message_seconds : 0, {.step = "hop"},
                        [&](const timing& one) {
                            return nlohmann::ordered_json{{"gflops", r.gflops(one)}, {"peak_ratio", r.peak_ratio(one)}};
                        });
    return all;
}

} // namespace dslash
