// SPDX-License-Identifier: Apache-2.0
// Geometric multigrid with variable boxes. Advantage: messages of all sizes down to a few bytes, in bursts that can be chosen.
// Disadvantage: one operator with constant coefficients, and a coarse solve that every rank does for itself.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line was refused.
#include "common/clock.hpp"
#include "common/program.hpp"
#include "common/runtime_session.hpp"
#include "options.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace multigrid {

namespace {

constexpr double slowest_reduction = 0.2;
constexpr double order_tolerance = 0.3; // with 16 cells per dimension it is 1.76, with 64 1.95
constexpr double rounding = 1e-10;      ///< Of the first residual; below, a V-cycle gains no more.

/// A factor of the solution that is 0 at 0 and 1, and its second derivative.
std::array<double, 2> factor(int d, double s) {
    const double pi = std::numbers::pi;
    if (d == 0) return {std::sin(pi * s), -pi * pi * std::sin(pi * s)};
    if (d == 1) return {(s - s * s) * std::exp(s), -(3 * s + s * s) * std::exp(s)};
    return {s - s * s * s * s, -12 * s * s};
}

/// Calls visit(place in x and b, solution, right-hand side, number in the whole domain) for each cell.
template <class Visit>
void each_cell(const cycle& of, Visit&& visit) {
    const level& on = of.finest();
    const extents& cells = of.whole().cells;
    for (int box = 0; box < on.n_boxes(); ++box) {
        const extents from = on.origin(box);
        for (long c = 0; c < volume(on.n); ++c) {
            const extents in_box = place_of(static_cast<int>(c), on.n);
            std::array<std::array<double, 2>, 3> f{};
            for (int d = 0; d < 3; ++d) {
                f[d] = factor(d, (from[d] + in_box[d] + 0.5) / cells[d]);
                f[d][1] /= std::pow(cells[d] * on.h, 2);
            }
            const double laplace =
                f[0][1] * f[1][0] * f[2][0] + f[0][0] * f[1][1] * f[2][0] + f[0][0] * f[1][0] * f[2][1];
            const long number = from[0] + in_box[0] +
                                static_cast<long>(cells[0]) *
                                    (from[1] + in_box[1] + static_cast<long>(cells[1]) * (from[2] + in_box[2]));
            visit(on.at(box, in_box[0], in_box[1], in_box[2]), f[0][0] * f[1][0] * f[2][0], -laplace,
                  static_cast<std::uint64_t>(number));
        }
    }
}

/// Sets the right-hand side; gives its largest value on this rank.
double set_problem(cycle& of) {
    double largest = 0;
    each_cell(of, [&](std::size_t at, double, double f, std::uint64_t) {
        of.finest().b[at] = f;
        largest = std::max(largest, std::abs(f));
    });
    return largest;
}

double largest_error(const cycle& of) {
    double largest = 0;
    each_cell(of, [&](std::size_t at, double u, double, std::uint64_t) {
        largest = std::max(largest, std::abs(of.finest().x[at] - u));
    });
    return largest;
}

/// A sum over the cells of all ranks, so that it does not depend on how they are cut.
std::uint64_t fingerprint(const cycle& of) {
    std::uint64_t sum = 0;
    each_cell(of, [&](std::size_t at, double, double, std::uint64_t number) {
        std::uint64_t z =
            std::bit_cast<std::uint64_t>(of.finest().x[at]) + (number + 1) * 0x9e3779b97f4a7c15U; // splitmix64
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        sum += z ^ (z >> 31);
    });
    return sum;
}

/// V-cycles from x = 0; gives the largest residual before them and after each.
std::vector<double> solve(cycle& on, runner& with, int n_cycles, double first_residual) {
    std::vector<double> residuals{with.collective_max(first_residual)};
    std::ranges::fill(on.finest().x, 0.0);
    for (int k = 0; k < n_cycles; ++k) {
        with.run();
        residuals.push_back(with.collective_max(on.largest_residual()));
    }
    return residuals;
}

timing measure(cycle& on, runner& with, int n_cycles, double first_residual, int n_ranks,
               std::vector<double>& residuals) {
    const double busy = with.busy_seconds();
    MPI_Barrier(MPI_COMM_WORLD);
    const double total = miniapp::seconds_of([&] { residuals = solve(on, with, n_cycles, first_residual); }) / n_cycles;
    std::array<double, 2> sum{total, (with.busy_seconds() - busy) / n_cycles / with.compute_threads()};
    MPI_Allreduce(MPI_IN_PLACE, sum.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {sum[0] / n_ranks, sum[1] / n_ranks, with.collective_max(total)};
}

void count_messages(const cycle& of, run_report& report) {
    report.on_lane.assign(static_cast<std::size_t>(report.settings.n_lanes), 0);
    for (const item& each : of.items()) {
        if (each.through.what != message::kind::send) continue;
        report.sent[0] += 1;
        report.sent[1] += each.through.count * static_cast<long>(sizeof(double));
        report.on_lane[each.through.lane] += 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, report.sent.data(), 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, report.on_lane.data(), report.settings.n_lanes, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

/// The worst factor by which a V-cycle reduced the residual, before rounding stops it. The first one finds x = 0, whose residual is
/// the right-hand side: no error of the method's own kind.
double worst_reduction(const std::vector<double>& residuals) {
    double worst = 0;
    for (std::size_t k = 2; k < residuals.size() && residuals[k] > rounding * residuals[0]; ++k) {
        worst = std::max(worst, residuals[k] / residuals[k - 1]);
    }
    return worst;
}

/// On rank 0: one box with all cells, the items in their order.
bool is_that_of_one_box(const run_report& report) {
    const extents& cells = report.settings.whole.cells;
    cycle alone({.cells = cells, .grid = {1, 1, 1}, .position = {}, .box = cells}, true, {});
    set_problem(alone);
    bool has_same_residuals = true;
    for (int k = 1; k <= report.settings.n_cycles; ++k) {
        alone.run_serially();
        has_same_residuals = has_same_residuals && alone.largest_residual() == report.residuals[k];
    }
    return has_same_residuals && fingerprint(alone) == report.fingerprint;
}

run_report run(const options& settings, int rank) {
    run_report report;
    report.settings = settings;
    MPI_Comm_size(MPI_COMM_WORLD, &report.n_ranks);
    domain whole = settings.whole;
    whole.position = place_of(rank, whole.grid);
    domain half = whole;
    for (int d = 0; d < 3; ++d) {
        half.cells[d] /= 2;
        half.box[d] /= 2;
    }
    std::vector<MPI_Comm> lanes(static_cast<std::size_t>(settings.n_lanes), MPI_COMM_WORLD);
    if (settings.n_lanes > 1)
        miniapp::require(commtask_comm_split_lanes(MPI_COMM_WORLD, settings.n_lanes, lanes.data()), "--lanes");
    const lane_policy policy{settings.n_lanes, settings.is_selective};
    const auto solved = [&](const domain& of, bool is_measured) {
        cycle on(of, settings.is_aggregated, policy, settings.n_cores);
        const double first = set_problem(on);
        const auto with = settings.how.make(on, lanes, settings.n_cores);
        report.compute_threads = with->compute_threads();
        if (is_measured) count_messages(on, report);
        report.residuals = solve(on, *with, settings.n_cycles, first); // warms up
        for (int k = 0; k < settings.n_repeats && is_measured; ++k) {
            report.repeats.push_back(measure(on, *with, settings.n_cycles, first, report.n_ranks, report.residuals));
        }
        report.fingerprint = fingerprint(on);
        MPI_Allreduce(MPI_IN_PLACE, &report.fingerprint, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return with->collective_max(largest_error(on));
    };
    const double half_error = solved(half, false);
    report.error = solved(whole, true);
    for (std::size_t k = 1; k < lanes.size(); ++k) MPI_Comm_free(&lanes[k]);
    if (lanes.size() > 1) MPI_Comm_free(&lanes[0]);
    std::ranges::sort(report.repeats, {}, &timing::slowest_s);
    report.order = std::log2(half_error / report.error);
    std::vector<double> seconds;
    for (const timing& each : report.repeats) seconds.push_back(each.slowest_s);
    report.checks.push_back(miniapp::time_passed(seconds, 1));
    report.checks.push_back(
        {"residual: what a V-cycle leaves of it", worst_reduction(report.residuals), slowest_reduction});
    report.checks.push_back({"order: the error falls as h^2", std::abs(report.order - 2), order_tolerance});
    if (!settings.is_fully_checked) return report;
    int is_same = rank == 0 && is_that_of_one_box(report) ? 1 : 0;
    MPI_Bcast(&is_same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    report.checks.push_back({"bits: those of one box on one thread", is_same == 1 ? 0.0 : 1.0, 0});
    return report;
}

} // namespace

} // namespace multigrid

int main(int argc, char** argv) {
    auto parsed = multigrid::parse_options(argc, argv);
    multigrid::options& settings = parsed.values;
    const bool has_worker = settings.how.which != multigrid::mode::baseline;
    miniapp::program program{.name = "multigrid",
                             .thread_level = !has_worker            ? MPI_THREAD_FUNNELED
                                             : settings.n_lanes > 1 ? MPI_THREAD_MULTIPLE
                                                                    : MPI_THREAD_SERIALIZED,
                             .message = parsed.message,
                             .exit_code = parsed.exit_code,
                             .files = {{"--json", settings.json_file}},
                             .settle = [&](int n_ranks) { return multigrid::settle(settings, n_ranks); },
                             .memory = [&](int rank, int) { return multigrid::memory(settings, rank); },
                             .run = {}};
    program.run = [&](int rank) {
        multigrid::run_report report;
        {
            const miniapp::runtime_session runtime(has_worker, settings.n_lanes);
            report = multigrid::run(settings, rank);
        }
        if (rank != 0) return miniapp::all_passed(report.checks);
        multigrid::print(report);
        const std::string why_not = settings.json_file.empty() ? "" : multigrid::write_json(report, settings.json_file);
        return miniapp::was_written(program, program.files.front(), why_not) && miniapp::all_passed(report.checks);
    };
    return miniapp::run_program(argc, argv, program);
}
