// SPDX-License-Identifier: Apache-2.0
// Geometric multigrid with variable boxes. Advantage: messages of all sizes down to a few bytes, in bursts that can be chosen.
// Disadvantage: one operator with constant coefficients, and a coarse solve that every rank does for itself.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line was refused.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/report_json.hpp"
#include "common/runner.hpp"
#include "common/runtime_session.hpp"
#include "grid.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace {

using namespace multigrid;
using miniapp::to_string;

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

/// Calls visit(place in x and b, solution, right-hand side) for each cell.
template <class Visit>
void each_cell(cycle& of, Visit&& visit) {
    const level& on = of.finest();
    const extents& cells = of.whole().cells;
    for (int box = 0; box < on.n_boxes(); ++box) {
        const extents from = on.origin(box);
        for (long c = 0; c < volume(on.n); ++c) {
            const extents in_box = miniapp::place_of(c, on.n);
            extents cell{};
            std::array<std::array<double, 2>, 3> f{};
            for (int d = 0; d < 3; ++d) {
                cell[d] = from[d] + in_box[d];
                f[d] = factor(d, (cell[d] + 0.5) / cells[d]);
                f[d][1] /= std::pow(cells[d] * on.h, 2);
            }
            const double laplace =
                f[0][1] * f[1][0] * f[2][0] + f[0][0] * f[1][1] * f[2][0] + f[0][0] * f[1][0] * f[2][1];
            visit(on.at(box, in_box[0], in_box[1], in_box[2]), f[0][0] * f[1][0] * f[2][0], -laplace);
        }
    }
}

struct options : miniapp::usual_options {
    domain whole; ///< The cells of settled options.
    int box = 16;
    int n_cycles = 10;
    int n_communicators = 1; ///< Of one lane.
    bool is_selective = true;
    bool is_aggregated = true;
    bool is_fully_checked = false;
};

constexpr int least_cycles = 6; // so that the error is that of the grid
constexpr int most_boxes = 4096;
constexpr int most_boxes_on_side = 512;
constexpr int widest_bottom = 16;

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    miniapp::command_line line("multigrid",
                               "Multigrid for -Laplace u = f in three dimensions; every run checks itself.");
    line.extents("--cells", o.whole.cells, 1 << 14, "64.64.128", "Global extents X.Y.Z; default: 64.64.64 per rank");
    line.number("--box", o.box, 8, 1024,
                "Cells of a box per dimension, a power of two; 16 cuts 64.64.64 into 64 boxes");
    line.word("--ghosts", o.is_aggregated, {"faces", "aggregated"},
              "one message per face of a box, or per neighbour rank");
    line.usual(o, miniapp::modes(), 16);
    line.word("--selective", o.is_selective, {"off", "on"}, "off: use all lanes; on: use only as many lanes as pay");
    line.number("--communicators", o.n_communicators, 1, 16,
                "Communicators on one lane that carry the messages in rotation, as a control for --lanes");
    line.number("--cycles", o.n_cycles, least_cycles, 10'000, "V-cycles per timed run");
    line.word("--check", o.is_fully_checked, {"order", "full"},
              "full: also compare bitwise with one box on one thread");
    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        if (o.n_lanes > 1 && o.n_communicators > 1)
            return "--communicators above 1 needs one lane, and --lanes is above 1; choose one of the two.";
        if (std::has_single_bit(static_cast<unsigned>(o.box))) return {};
        return "--box " + std::to_string(o.box) + " is no power of two; choose 8, 16, 32 or 64.";
    });
    return parsed;
}

/// With the smallest faces, of ranks that hold whole boxes.
std::optional<extents> choose_grid(const extents& cells, int box, int n_ranks) {
    return miniapp::best_grid<3>(n_ranks, [&](const extents& grid) {
        double faces = 0;
        for (int d = 0; d < 3; ++d) {
            if (cells[d] % (static_cast<long>(box) * grid[d]) != 0) return std::optional<double>{};
            faces += (grid[d] - 1.0) / cells[d];
        }
        return std::optional{faces};
    });
}

std::string settle(options& o, int n_ranks) {
    extents& cells = o.whole.cells;
    if (cells[0] == 0) {
        const extents grid = choose_grid({n_ranks, n_ranks, n_ranks}, 1, n_ranks).value_or(extents{1, 1, 1});
        cells = {64 * grid[0], 64 * grid[1], 64 * grid[2]};
    }
    const std::string what = "cells " + to_string(cells) + " with boxes of " + std::to_string(o.box);
    const auto grid = choose_grid(cells, o.box, n_ranks);
    if (!grid) {
        return what + " cannot be cut among " + std::to_string(n_ranks) + " ranks into whole boxes; --cells " +
               to_string(extents{o.box, o.box, o.box * n_ranks}) + " works.";
    }
    o.whole.grid = *grid;
    o.whole.box = {o.box, o.box, o.box};
    const extents boxes = o.whole.boxes();
    const int on_side = boxes[0] * boxes[1] * boxes[2] / std::ranges::min(boxes);
    if (volume(boxes) > most_boxes || on_side > most_boxes_on_side) {
        return what + " make " + std::to_string(volume(boxes)) + " boxes on a rank, and " + std::to_string(most_boxes) +
               " (" + std::to_string(most_boxes_on_side) + " on a side) are the most; choose a larger --box.";
    }
    for (const int n : cells) {
        if (n >> std::countr_zero(static_cast<unsigned>(n)) > widest_bottom)
            return what + " cannot be halved often enough; choose a power of two, or one times a number up to 15.";
    }
    return {};
}

miniapp::memory_need memory(const options& o, int rank) {
    constexpr double fields = 2 * sizeof(double) * 8.0 / 7, bytes_of_items = 200 * 400; // of all levels; of a box
    const auto cells = static_cast<double>(volume(o.whole.cells));
    const auto boxes = static_cast<double>(volume(o.whole.boxes()));
    double bytes = boxes * (std::pow(o.box + 2.0, 3) * fields + bytes_of_items);
    if (o.is_fully_checked && rank == 0) bytes += cells * fields;
    return {bytes, "multigrid with cells " + to_string(o.whole.cells), "use more nodes or fewer cells"};
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

/// The messages of a V-cycle, and their bytes, of all ranks, and the messages on each lane.
std::vector<std::uint64_t> count_messages(const cycle& of, const std::vector<MPI_Comm>& lanes, MPI_Comm comm) {
    std::vector<std::uint64_t> counts(2 + lanes.size());
    for (const miniapp::item& each : of.items().items()) {
        if (!each.is_message() || each.through->what != miniapp::message::kind::send) continue;
        counts[0] += 1;
        counts[1] += static_cast<std::uint64_t>(each.through->operation.send.count) * sizeof(double);
        counts[2 + (std::ranges::find(lanes, each.through->operation.comm) - lanes.begin())] += 1;
    }
    for (std::uint64_t& each : counts) each = miniapp::sum_of(each, comm);
    return counts;
}

/// What the cells of a domain come to.
struct solution {
    std::vector<miniapp::phase_times> times; ///< Of the timed runs.
    std::vector<double> residuals;           ///< The largest before the first V-cycle and after each.
    std::vector<std::uint64_t> counts;       ///< Of count_messages().
    double error = 0;
    int compute_threads = 1;
    miniapp::run_prints prints; ///< Of the timed runs; of the first one where none is.
    miniapp::run_prints messages;
};

/// This rank's part of a fingerprint of the solution and of the largest residuals, by which a V-cycle counts though later ones heal it.
std::uint64_t print_of(cycle& of, const std::vector<double>& residuals, MPI_Comm comm) {
    const level& on = of.finest();
    const extents& cells = of.whole().cells;
    std::uint64_t bits = 0;
    for (int box = 0; box < on.n_boxes(); ++box) {
        const extents from = on.origin(box);
        each_row(on.whole_box(), [&](int j, int k) {
            const double* const x = &on.x[on.at(box, 0, j, k)];
            const extents first{from[0], from[1] + j, from[2] + k};
            const auto number = static_cast<std::uint64_t>(miniapp::index_of(first, cells));
            for (int i = 0; i < on.n[0]; ++i) bits += miniapp::print_of(x[i], number + static_cast<std::uint64_t>(i));
        });
    }
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    auto number = static_cast<std::uint64_t>(volume(cells));
    for (const double each : rank == 0 ? residuals : std::vector<double>{}) bits += miniapp::print_of(each, number++);
    return bits;
}

solution solve(const options& o, const domain& whole, const miniapp::mode& how, MPI_Comm comm,
               miniapp::lane_comms& lanes, int n_timed) {
    solution all;
    const bool is_selective = o.is_selective && o.n_communicators == 1;
    const auto choose = [&](std::size_t size, std::size_t n) { return lanes.spread(size, n, is_selective); };
    cycle on(whole, o.is_aggregated, choose, o.n_cores);
    level& finest = on.finest();
    double first = 0;
    each_cell(on, [&](std::size_t at, double, double f) {
        finest.b[at] = f;
        first = std::max(first, std::abs(f));
    });
    first = miniapp::largest_of(first, comm);
    const auto with = how.make(on.items(), lanes.beside_lanes(o.n_cores));
    all.compute_threads = with->compute_threads();
    for (int k = 0; k <= n_timed; ++k) { // the first one warms up
        miniapp::phase_times times;
        MPI_Barrier(comm);
        times.total = miniapp::seconds_of([&] {
            all.residuals = {first};
            std::ranges::fill(finest.x, 0.0);
            for (int c = 0; c < o.n_cycles; ++c) {
                times += with->run(on.items().n_stages());
                all.residuals.push_back(miniapp::largest_of(on.largest_residual(), comm));
            }
        });
        if (k > 0) all.times.push_back(times);
        const std::uint64_t left = on.left_of_messages();
        if (k == 0 && n_timed > 0) continue;
        all.prints.add(print_of(on, all.residuals, comm));
        all.messages.add(left);
    }
    all.counts = count_messages(on, lanes.all(), comm);
    each_cell(on,
              [&](std::size_t at, double u, double) { all.error = std::max(all.error, std::abs(finest.x[at] - u)); });
    all.error = miniapp::largest_of(all.error, comm);
    all.prints.sum(comm);
    all.messages.sum(comm);
    return all;
}

miniapp::outcome run(const options& o, int rank) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(o.mode)];
    domain whole = o.whole;
    whole.position = miniapp::place_of(rank, whole.grid);
    domain half = whole;
    for (int& n : half.cells) n /= 2;
    for (int& n : half.box) n /= 2;
    miniapp::lane_comms lanes{MPI_COMM_WORLD, o.n_lanes, o.n_communicators};
    const double half_error = solve(o, half, how, MPI_COMM_WORLD, lanes, 0).error;
    const solution found = solve(o, whole, how, MPI_COMM_WORLD, lanes, o.repeats);
    const auto runs = miniapp::per_step(found.times, o.n_cycles, MPI_COMM_WORLD);
    // Last, so that nothing of it is left where the mode's runs are timed.
    miniapp::lane_comms one_lane{MPI_COMM_WORLD, 1};
    const solution plain = solve(o, whole, miniapp::modes().front(), MPI_COMM_WORLD, one_lane, 0);
    const double order = std::log2(half_error / found.error);
    miniapp::outcome end{
        {miniapp::time_passed(runs, 1),
         found.messages.nothing_changed(),
         found.prints.compare(plain.prints.last(), "by plain messages"),
         {"residual: what a V-cycle leaves of it", worst_reduction(found.residuals), slowest_reduction},
         {"order: the error falls as h^2", std::abs(order - 2), order_tolerance}}};
    if (o.is_fully_checked) {
        options with = o;
        with.n_cores = 1;
        const domain one_box{.cells = whole.cells, .grid = {1, 1, 1}, .position = {}, .box = whole.cells};
        miniapp::lane_comms self{MPI_COMM_SELF, 1};
        std::uint64_t alone = 0;
        if (rank == 0) alone = solve(with, one_box, miniapp::modes().front(), MPI_COMM_SELF, self, 0).prints.last();
        MPI_Bcast(&alone, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        end.checks.push_back(found.prints.compare(alone, "one box on one thread"));
    }
    if (rank != 0) return end;
    end.told = {{"program", "multigrid"},
                {"cells", whole.cells},
                {"grid", whole.grid},
                {"box", o.box},
                {"boxes", volume(whole.boxes())},
                {"ghosts", o.is_aggregated ? "aggregated" : "faces"},
                {"lanes", o.n_lanes},
                {"communicators", o.n_communicators},
                {"selective", o.is_selective},
                {"ranks", volume(whole.grid)},
                {"compute_threads", found.compute_threads},
                {"cycles", o.n_cycles},
                {"messages", found.counts[0]},
                {"bytes", found.counts[1]},
                {"messages_on_lane", std::vector(found.counts.begin() + 2, found.counts.end())},
                {"residuals", found.residuals},
                {"error", found.error},
                {"order", order},
                {"mcells_per_s", 1e-6 * static_cast<double>(volume(whole.cells)) / runs[runs.size() / 2].slowest_total},
                {"fingerprint", miniapp::fingerprint_text(found.prints.last())}};
    miniapp::tell_times(end.told, how.name, runs, 0, {.step = "V-cycle", .external = "external"});
    return end;
}

} // namespace

int main(int argc, char** argv) {
    auto parsed = parse_options(argc, argv);
    return miniapp::run_program(argc, argv, "multigrid", parsed, settle, memory, run);
}
