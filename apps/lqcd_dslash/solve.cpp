// SPDX-License-Identifier: Apache-2.0
// A run with --solve: (1 - kappa D) x = b is reduced to its even sites, solved there several times in the chosen mode, and completed
// on the odd sites. The naive operator, which shares no code with the solver's, has the last word on the residual.
#include "common/report_json.hpp"
#include "driver.hpp"
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dslash {

namespace {

constexpr double allowed_residual = 1e-10;
constexpr double rounding_margin = 0.9; ///< The solver's residual is not rounded as that of the naive operator is.

/// The operators of a run, in the precision of the iterations and in double.
struct operators {
    std::unique_ptr<stencil> in_double, in_single;
    stencil& of_iterations() const { return in_single ? *in_single : *in_double; }
};

/// Both have the same lanes, so that a site has the same place in both.
operators make_operators(const geometry& geom, stencil_options kernel) {
    const bool is_single = kernel.real == precision::single;
    kernel.real = precision::double_;
    if (is_single) kernel.width_bytes *= 2;
    operators made{make_stencil(geom, kernel), nullptr};
    if (!is_single) return made;
    if (made.in_double->shape().n_lanes < 4) { // single precision has no two lanes
        kernel.width_bytes = sizeof(double);
        made.in_double = make_stencil(geom, kernel);
    }
    kernel.real = precision::single;
    kernel.width_bytes = made.in_double->width_bytes() / 2;
    made.in_single = make_stencil(geom, kernel);
    return made;
}

/// to = a + b on the sites of a parity.
void add(const stencil& on, int parity, field& to, const field& a, const field& b) {
    for (const tile& each : on.shape().parity[parity].tiles) on.combine(to, parity, each, {{1, &a}, {1, &b}});
}

} // namespace

miniapp::outcome run_solver(const options& settings, MPI_Comm comm) {
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);

    const geometry geom = make_geometry(*settings.lattice, *settings.grid, rank, settings.force_comm);
    const operators with = make_operators(geom, settings.kernel);
    stencil& on = *with.in_double;
    miniapp::lane_comms lanes{comm, settings.n_lanes};
    std::vector<MPI_Comm> of_messages = spread(lanes, with.of_iterations());
    const int n_cores = lanes.beside_lanes(settings.n_cores);
    const exchange_options exchange_settings = exchange_options_of(settings, comm, n_cores, std::move(of_messages));

    const link_function links = random_links(geom.lattice);
    const spinor_function b_at = random_spinor(geom.lattice);
    on.set_links(links);
    if (with.in_single) with.in_single->set_links(links);
    field b = on.make_field();
    field source = on.make_field();
    field x = on.make_field();
    on.fill(b, b_at);
    on.fill(x, [](const coordinates&) { return spinor{}; });
    const checker checks{on, comm, links};
    const double b2 = checks.norm2(b, 0) + checks.norm2(b, 1);
    const double goal = std::pow(rounding_margin * allowed_residual, 2) * b2;

    // Mhat x_e = b_e + kappa D_eo b_o.
    exchange(mode::plain, on, exchange_settings).run(b, source, 2, settings.kappa);
    add(on, 0, source, b, source);
    const double source2 = checks.norm2(source, 0);

    solved found;
    const auto solve = [&](solver& by) {
        found = by.run(source, source2, goal);
        std::memcpy(x.parity[0].data(), by.solution().parity[0].data(), x.parity[0].size());
        // The sums are the same on all ranks, so one tells of them.
        return on.local_fingerprint(x) + (rank == 0 ? found.history : 0);
    };
    const auto make = [&](mode which) {
        return solver(settings.solve, which, with.of_iterations(), on, exchange_settings, settings.kappa);
    };
    const bool is_checked = settings.check != check_level::none;
    std::uint64_t expected = 0;
    if (is_checked) {
        solver plain = make(mode::plain);
        expected = miniapp::sum_of(solve(plain), comm);
    }
    std::vector<phase_times> times;
    miniapp::run_prints prints;
    int compute_threads = 1, cores = 1;
    {
        solver active = make(settings.which);
        compute_threads = active.iterations().compute_threads();
        cores = active.iterations().cores() + lanes.n_more_lanes();
        for (int k = 0; k <= settings.repeats; ++k) { // the first one warms up
            active.barrier();
            const std::uint64_t print = solve(active);
            if (k == 0) continue;
            times.push_back(found.times);
            prints.add(print);
        }
        active.barrier();
    }
    // x_o = b_o + kappa D_oe x_e.
    exchange(mode::plain, on, exchange_settings).run(x, source, 2, settings.kappa);
    add(on, 1, x, b, source);

    const std::vector<miniapp::timing> runs = miniapp::per_step(times, std::max(1, found.iterations), comm);
    const double flops =
        2.0 * flops_per_site * static_cast<double>(geom.global_volume()); // four hops on half of the sites
    const auto speed = [&](const miniapp::timing& one) {
        return nlohmann::ordered_json{{"gflops", flops / one.slowest_total / 1e9}};
    };
    prints.sum(comm);
    const auto [residual, norm2] = checks.residual_and_norm2(x, b_at, settings.kappa);
    miniapp::outcome all{{miniapp::time_passed(runs, speed(runs[runs.size() / 2])["gflops"]),
                          {"residual: |b - M x| / |b| by the naive operator", residual, allowed_residual},
                          is_checked ? prints.compare(expected, "the plain exchange") : prints.compare()}};
    const auto known = against_known_solution(geom.lattice, settings.kappa, norm2);
    all.checks.insert(all.checks.end(), known.begin(), known.end());
    if (rank != 0) return all;
    all.told = {{"program", "lqcd_dslash"},
                {"solve", method_names[static_cast<std::size_t>(settings.solve)]},
                {"lattice", *settings.lattice},
                {"grid", *settings.grid},
                {"kappa", settings.kappa},
                {"precision", precision_names[static_cast<std::size_t>(settings.kernel.real)]},
                {"ranks", n_ranks},
                {"compute_threads", compute_threads},
                {"cores", cores},
                {"iterations", found.iterations},
                {"residuals_in_double", found.updates},
                {"norm2_solution", norm2},
                {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    miniapp::tell_times(all.told, describe(settings.which).name, runs, 0, {.step = "iteration"}, speed);
    return all;
}

} // namespace dslash
