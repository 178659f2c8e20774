// SPDX-License-Identifier: Apache-2.0
// The timed chain alternates D_eo and D_oe, each hop reading what the one before wrote, as a solver does. A factor per
// hop, taken from a few hops of power iteration, keeps the numbers from growing; it is the same for every mode and
// grid, so the chain's end must be too, bit by bit.
#include "driver.hpp"

#include "common/peak.hpp"
#include "common/runtime_session.hpp"
#include "reduction.hpp"

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

/// What carries the messages of a hop, one for each direction that is cut, on as few lanes as serve them well. All are taken to be
/// as large as the largest.
std::vector<MPI_Comm> spread(miniapp::lane_comms& lanes, const stencil& on) {
    std::size_t largest = 0;
    std::size_t n = 0;
    for (int d = 0; d < n_directions; ++d) {
        largest = std::max(largest, on.face_bytes(d));
        n += on.face_bytes(d) > 0 ? 1 : 0;
    }
    return n == 0 ? std::vector<MPI_Comm>{} : lanes.spread(largest, n, true);
}

/// Factor that keeps the chain's norm about constant, from `work` as it is after some hops.
double chain_scale(exchange& plain, const checker& checks, field& work) {
    plain.run(work, work, scaling_hops, 0.25);
    const double growth = std::sqrt(checks.norm2(work, 1) / checks.norm2(work, 0)) * 4;
    // A float, so that both precisions use exactly the same number.
    return static_cast<float>(1 / growth);
}

} // namespace

double run_report::gflops(const timing& t) const {
    double sites = 0.5;
    for (const int extent : *settings.lattice) sites *= extent;
    return flops_per_site * sites / t.slowest_total / 1e9;
}

double run_report::peak_ratio(const timing& t) const { return gflops(t) / (peak_gflops * n_ranks * compute_threads); }

run_report run(const options& settings, MPI_Comm comm) {
    run_report report;
    report.settings = settings;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &report.n_ranks);

    const geometry geom = make_geometry(*settings.lattice, *settings.grid, rank, settings.force_comm);
    const auto on = make_stencil(geom, settings.kernel);
    report.width_bytes = on->width_bytes();
    report.register_bytes = miniapp::vector_register_bytes();
    report.lanes = on->shape().lanes;
    report.block = on->shape().block;
    report.n_tiles = static_cast<int>(on->shape().parity[0].tiles.size());
    report.n_interior_tiles = on->shape().parity[0].n_interior_tiles;
    for (int d = 0; d < n_directions; ++d) report.face_bytes[d] = on->face_bytes(d);

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
    const exchange_options exchange_settings{
        comm, n_cores, settings.probe_every, settings.bad, settings.has_plan, settings.is_held, std::move(of_messages)};
    const int hops = 2 * settings.iterations;
    std::uint64_t expected_fingerprint = 0;
    {
        exchange plain(mode::plain, *on, exchange_settings);
        report.scale = chain_scale(plain, checks, work);
        if (settings.check != check_level::none) {
            copy(work, psi);
            plain.run(work, work, hops, report.scale);
            expected_fingerprint = checks.fingerprint(work);
        }
        report.message_seconds = plain.message_seconds();
    }
    report.peak_gflops = miniapp::measure_peak_gflops();

    std::vector<phase_times> times;
    miniapp::run_prints prints;
    {
        exchange active(settings.which, *on, exchange_settings);
        report.compute_threads = active.compute_threads();
        report.cores = active.cores() + lanes.n_more_lanes();
        active.run(psi, d_psi, 2, 1);
        active.run(chi, d_g5_chi, 2, 1);
        copy(work, psi);
        active.run(work, work, std::min(hops, 20), report.scale);
        for (int k = 0; k < settings.repeats; ++k) {
            copy(work, psi);
            active.barrier();
            times.push_back(active.run(work, work, hops, report.scale));
            prints.add(on->local_fingerprint(work));
        }
        active.barrier();
    }

    report.repeats = miniapp::per_step(times, hops, comm);
    report.peak_gflops = miniapp::largest_of(report.peak_gflops, comm);
    report.checks.push_back(miniapp::time_passed(report.repeats, report.gflops(report.median())));
    prints.sum(comm);
    report.fingerprint = prints.last();
    on->fill(chi, chi_at);
    report.checks.push_back(checks.adjoint(chi, d_g5_chi, psi, d_psi));
    const double end = checks.norm2(work, 0) + checks.norm2(work, 1);
    report.checks.push_back({"chain: the norm is finite", std::isfinite(end) && end > 0 ? 0.0 : 1.0, 0});
    report.checks.push_back(settings.check == check_level::none
                                ? prints.compare()
                                : prints.compare(expected_fingerprint, "the plain exchange"));
    if (settings.check != check_level::none) {
        report.golden = checks.golden(psi, d_psi);
        const auto known = against_known(geom.lattice, report.golden, 10 * tolerance(settings.kernel.real));
        report.checks.insert(report.checks.end(), known.begin(), known.end());
    }
    if (settings.check == check_level::full) report.checks.push_back(checks.against_reference(psi_at, d_psi));
    return report;
}

} // namespace dslash
