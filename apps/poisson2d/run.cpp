// SPDX-License-Identifier: Apache-2.0
// Measures and reports. What the halos take alone comes first, while nothing but this thread is in MPI; then the mode's
// runs, the median of which is told. The fingerprint is the same for all modes, halos and grids; the tests compare it.
#include "run.hpp"

#include "common/report_json.hpp"

#include <cinttypes>
#include <cstdio>

namespace poisson {

namespace {

phase_times one_run(const chain& of, const mode& how) {
    of.on.reset();
    of.by.pack(0);
    of.by.barrier();
    return how.run(of);
}

/// Seconds that a step's halos take by messages when nothing is computed.
double halos_alone(halo& by, MPI_Comm comm) {
    constexpr int n = 40;
    by.barrier();
    double seconds = miniapp::seconds_of([&] {
        for (int step = 0; step < n; ++step) {
            by.start(step);
            by.wait(step);
        }
    });
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds / n;
}

} // namespace

bool run(const options& o, MPI_Comm comm, std::string& why_not_written) {
    const std::array<int, 2> is_periodic{};
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(comm, 2, o.whole.grid.data(), is_periodic.data(), 0, &cart);
    domain on(o.whole, cart);
    halo plain(on, halo_kind::p2p, cart, false);
    const double alone = halos_alone(plain, comm);
    std::vector<phase_times> mine;
    halo by(on, o.by, cart, o.how->by_worker);
    one_run({on, by, std::min(o.n_steps, 20), o.n_cores}, *o.how);
    for (int k = 0; k < o.repeats; ++k) mine.push_back(one_run({on, by, o.n_steps, o.n_cores}, *o.how));
    by.barrier();
    by.end();

    const auto all = miniapp::per_step(mine, o.n_steps, comm);
    const miniapp::timing& median = all[all.size() / 2];
    const double points = 1e-6 * o.whole.points[0] * o.whole.points[1] / (o.whole.by == method::jacobi ? 1 : 2);
    const double speed = points / median.slowest_total;
    double error = on.error(o.n_steps);
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, comm);
    std::uint64_t fingerprint = on.fingerprint(o.n_steps);
    MPI_Allreduce(MPI_IN_PLACE, &fingerprint, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Comm_free(&cart);
    std::vector<double> run_seconds;
    for (const auto& one : all) run_seconds.push_back(one.slowest_total);
    std::vector<miniapp::check> checks{
        miniapp::time_passed(run_seconds, speed),
        {"every point is what the steps give exactly", error, domain::tolerance(o.n_steps)}};
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    if (rank != 0) return miniapp::all_passed(checks);

    int n_halo = 0;
    for (int side = 0; side < n_sides; ++side) n_halo += on.has_neighbour(side) ? on.n_leaving(0, side) : 0;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016" PRIx64, fingerprint);
    std::printf("poisson2d: %d.%d points on grid %d.%d, %s, mode %s, halo %s\n", o.whole.points[0], o.whole.points[1],
                o.whole.grid[0], o.whole.grid[1], o.method_name.c_str(), o.how->name, o.halo_name.c_str());
    std::printf(
        "%d steps of %d bands, %d cores per rank; halos: %d points per step on rank 0, %.2f us alone; MPI: %s\n\n",
        o.n_steps, on.n_bands(), o.n_cores, n_halo, alone * 1e6, miniapp::mpi_library().c_str());
    miniapp::print_phases(o.how->name, median, alone);
    std::printf("%.1f million points/s, median of %zu runs\nfingerprint %s\n", speed, all.size(), digits);
    miniapp::print_checks(checks);
    if (!o.json_file.empty()) {
        nlohmann::json told{{"program", "poisson2d"},
                            {"points", o.whole.points},
                            {"grid", o.whole.grid},
                            {"ranks", n_ranks},
                            {"method", o.method_name},
                            {"mode", o.how->name},
                            {"halo", o.halo_name},
                            {"steps", o.n_steps},
                            {"bands", on.n_bands()},
                            {"cores", o.n_cores},
                            {"halo_points", n_halo},
                            {"messages_us", alone * 1e6},
                            {"mpi_library", miniapp::mpi_library()},
                            {"mpoints_per_s", speed},
                            {"fingerprint", digits},
                            {"median", to_json(median, alone)}};
        for (const auto& one : all) told["repeats"].push_back(to_json(one, alone));
        why_not_written = miniapp::write_report(told, checks, o.json_file);
    }
    return miniapp::all_passed(checks);
}

} // namespace poisson
