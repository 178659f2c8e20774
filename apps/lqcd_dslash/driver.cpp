// SPDX-License-Identifier: Apache-2.0
// The timed chain alternates D_eo and D_oe, each hop reading what the one before wrote, as a solver does. A factor per
// hop, taken from a few hops of power iteration, keeps the numbers from growing; it is the same for every mode and
// grid, so the chain's end must be too, bit by bit.
#include "driver.hpp"

#include "common/peak.hpp"
#include "common/report_json.hpp"
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dslash {

namespace {

constexpr int scaling_hops = 16;
constexpr std::uint64_t chi_seed = 1;

void copy(field& to, const field& from) {
    for (std::size_t parity = 0; parity < 2; ++parity) {
        std::memcpy(to.parity[parity].data(), from.parity[parity].data(), from.parity[parity].size());
    }
}

spinor_function gamma5_of(spinor_function values) {
    return [values = std::move(values)](const coordinates& site) {
        spinor s = values(site);
        for (std::size_t spin = 2; spin < 4; ++spin) {
            for (complex& c : s[spin]) c = -c;
        }
        return s;
    };
}

/// Factor that keeps the chain's norm about constant, from `work` as it is after some hops.
double chain_scale(exchange& plain, const checker& checks, field& work) {
    plain.run(work, work, scaling_hops, 0.25);
    const double growth = std::sqrt(checks.norm2(work, 1) / checks.norm2(work, 0)) * 4;
    // A float, so that both precisions use exactly the same number.
    return static_cast<float>(1 / growth);
}

nlohmann::ordered_json tell(const golden_values& g) {
    nlohmann::ordered_json golden{{"plaquette", g.plaquette},
                                  {"norm2_psi", g.norm2_psi},
                                  {"norm2_d_psi", g.norm2_d_psi},
                                  {"psi_d_psi", {g.psi_d_psi.real(), g.psi_d_psi.imag()}},
                                  {"norm2_d_eo_psi_o", g.norm2_d_eo_psi_o}};
    for (const auto& colours : g.d_psi_at_origin) {
        for (const complex c : colours) golden["d_psi_at_origin"].push_back({c.real(), c.imag()});
    }
    return golden;
}

} // namespace

std::vector<MPI_Comm> spread(miniapp::lane_comms& lanes, const stencil& on) {
    std::size_t largest = 0;
    std::size_t n = 0;
    for (int d = 0; d < n_directions; ++d) {
        largest = std::max(largest, on.face_bytes(d));
        n += on.face_bytes(d) > 0 ? 1 : 0;
    }
    return n == 0 ? std::vector<MPI_Comm>{} : lanes.spread(largest, n, true);
}

exchange_options exchange_options_of(const options& settings, MPI_Comm comm, int n_cores, std::vector<MPI_Comm> lanes) {
    return {comm, n_cores, settings.probe_every, settings.bad, settings.has_plan, settings.is_bound, std::move(lanes)};
}

miniapp::outcome run(const options& settings, MPI_Comm comm) {
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);

    const geometry geom = make_geometry(*settings.lattice, *settings.grid, rank, settings.force_comm);
    const auto on = make_stencil(geom, settings.kernel);
    miniapp::lane_comms lanes{comm, settings.n_lanes};
    std::vector<MPI_Comm> of_messages = spread(lanes, *on);
    const int n_cores = lanes.beside_lanes(settings.n_cores);

    const link_function links = random_links(geom.lattice);
    const spinor_function psi_at = random_spinor(geom.lattice);
    const spinor_function chi_at = random_spinor(geom.lattice, chi_seed);
    on->set_links(links);
    field psi = on->make_field();
    field chi = on->make_field();
    field d_psi = on->make_field();
    field d_g5_chi = on->make_field();
    field work = on->make_field();
    on->fill(psi, psi_at);
    on->fill(chi, gamma5_of(chi_at));
    on->fill(d_psi, psi_at);
    on->fill(d_g5_chi, psi_at);
    on->fill(work, psi_at);

    const checker checks{*on, comm, links};
    const exchange_options exchange_settings = exchange_options_of(settings, comm, n_cores, std::move(of_messages));
    const int hops = 2 * settings.iterations;
    const bool is_checked = settings.check != check_level::none;
    std::uint64_t expected = 0;
    double scale = 0;
    double message_seconds = 0;
    {
        exchange plain(mode::plain, *on, exchange_settings);
        scale = chain_scale(plain, checks, work);
        if (is_checked) {
            copy(work, psi);
            plain.run(work, work, hops, scale);
            expected = checks.fingerprint(work);
        }
        message_seconds = plain.message_seconds();
    }
    double peak_gflops = miniapp::measure_peak_gflops();

    std::vector<phase_times> times;
    miniapp::run_prints prints;
    int compute_threads = 1;
    int cores = 1;
    {
        exchange active(settings.which, *on, exchange_settings);
        compute_threads = active.compute_threads();
        cores = active.cores() + lanes.n_more_lanes();
        active.run(psi, d_psi, 2, 1);
        active.run(chi, d_g5_chi, 2, 1);
        copy(work, psi);
        active.run(work, work, std::min(hops, 20), scale);
        for (int k = 0; k < settings.repeats; ++k) {
            copy(work, psi);
            active.barrier();
            times.push_back(active.run(work, work, hops, scale));
            prints.add(on->local_fingerprint(work));
        }
        active.barrier();
    }

    const std::vector<miniapp::timing> runs = miniapp::per_step(times, hops, comm);
    peak_gflops = miniapp::largest_of(peak_gflops, comm);
    const double sites = static_cast<double>(geom.global_volume()) / 2;
    const auto speed = [&](const miniapp::timing& one) {
        const double gflops = flops_per_site * sites / one.slowest_total / 1e9;
        // Per core that computes, over the peak of one core.
        return nlohmann::ordered_json{{"gflops", gflops},
                                      {"peak_ratio", gflops / (peak_gflops * n_ranks * compute_threads)}};
    };
    prints.sum(comm);
    on->fill(chi, chi_at);
    const double end = checks.norm2(work, 0) + checks.norm2(work, 1);
    miniapp::outcome all{{miniapp::time_passed(runs, speed(runs[runs.size() / 2])["gflops"]),
                          checks.adjoint(chi, d_g5_chi, psi, d_psi),
                          {"chain: the norm is finite", std::isfinite(end) && end > 0 ? 0.0 : 1.0, 0},
                          is_checked ? prints.compare(expected, "the plain exchange") : prints.compare()}};
    golden_values golden;
    if (is_checked) {
        golden = checks.golden(psi, d_psi);
        const auto known = against_known(geom.lattice, golden, 10 * tolerance(settings.kernel.real));
        all.checks.insert(all.checks.end(), known.begin(), known.end());
    }
    if (settings.check == check_level::full) all.checks.push_back(checks.against_reference(psi_at, d_psi));
    if (rank != 0) return all;

    std::array<std::size_t, n_directions> face_bytes{};
    for (int d = 0; d < n_directions; ++d) face_bytes[d] = on->face_bytes(d);
    const bool has_messages = std::ranges::any_of(face_bytes, [](std::size_t size) { return size > 0; });
    all.told = {{"program", "lqcd_dslash"},
                {"lattice", *settings.lattice},
                {"grid", *settings.grid},
                {"precision", precision_names[static_cast<std::size_t>(settings.kernel.real)]},
                {"links", settings.kernel.link_reals},
                {"force_comm", settings.force_comm},
                {"bad", bad_names[static_cast<std::size_t>(settings.bad)]},
                {"iterations", settings.iterations},
                {"ranks", n_ranks},
                {"compute_threads", compute_threads},
                {"cores", cores},
                {"simd_bytes", on->width_bytes()},
                {"register_bytes", miniapp::vector_register_bytes()},
                {"lanes", on->shape().lanes},
                {"block", on->shape().block},
                {"tiles", on->shape().parity[0].tiles.size()},
                {"interior_tiles", on->shape().parity[0].n_interior_tiles},
                {"face_bytes", face_bytes},
                {"messages_us", message_seconds * 1e6},
                {"flops_per_site", flops_per_site},
                {"peak_gflops", peak_gflops},
                {"scale", scale},
                {"check", check_names[static_cast<std::size_t>(settings.check)]}};
    if (is_checked) all.told["golden"] = tell(golden);
    all.told["fingerprint"] = miniapp::fingerprint_text(prints.last());
    miniapp::tell_times(all.told, describe(settings.which).name, runs, has_messages ? message_seconds : 0,
                        {.step = "hop"}, speed);
    return all;
}

} // namespace dslash
