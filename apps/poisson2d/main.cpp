// SPDX-License-Identifier: Apache-2.0
// Poisson's equation on a rectangle, by Jacobi or red-black Gauss-Seidel. Advantage: halos so small beside the work that each
// way of sending them can be compared in each mode. Disadvantage: one level, so it smooths and hardly solves.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the grid was refused.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/report_json.hpp"
#include "halo.hpp"

namespace {

using namespace poisson;
using miniapp::to_string;

constexpr int most_points = 100'000'000; // along one side: four of its halos are counted in an int
const std::vector<std::string> method_names{"jacobi", "redblack"};
const std::vector<std::string> halo_names{"p2p", "neighbor", "put", "get"};

struct options : miniapp::usual_options {
    problem whole;
    halo_kind by = halo_kind::p2p;
    int n_steps = 0; ///< Two of them are a sweep of red-black.
};

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    int sweeps = 100;
    miniapp::command_line line("poisson2d", "Two-dimensional Poisson equation over MPI ranks, with halos by messages "
                                            "or one-sided; every run checks itself.");
    line.extents("--points", o.whole.points, most_points, "512.512", "Rows.columns of the grid; default 512.512");
    line.extents("--grid", o.whole.grid, most_points, "2.1",
                 "Ranks along rows and columns; default: as square as possible");
    line.word("--method", o.whole.by, method_names, "smoother of a sweep");
    line.usual(o, modes(), 1);
    line.word("--halo", o.by, halo_names, "operations that exchange halos");
    line.number("--sweeps", sweeps, 1, 1'000'000, "Sweeps per run");
    line.number("--bands", o.whole.n_bands, 1, 100'000, "Bands of rows in a step; default: four per core");
    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        o.n_steps = o.whole.by == method::jacobi ? sweeps : 2 * sweeps;
        if (o.whole.n_bands == 0) o.whole.n_bands = 4 * o.n_cores;
        return {};
    });
    return parsed;
}

std::string settle(options& o, int n_ranks) {
    std::array<int, 2>& grid = o.whole.grid;
    std::array<int, 2> works{};
    MPI_Dims_create(n_ranks, 2, works.data());
    if (grid[0] == 0) grid = works;
    if (static_cast<long long>(grid[0]) * grid[1] != n_ranks) {
        return "--grid " + to_string(grid) + " is not the " + std::to_string(n_ranks) + " ranks of this run; choose " +
               to_string(works) + ".";
    }
    if (grid[0] > o.whole.points[0] || grid[1] > o.whole.points[1]) {
        return "--points " + to_string(o.whole.points) + " leaves ranks of the grid " + to_string(grid) +
               " without points; choose at least " + to_string(grid) + ".";
    }
    return {};
}

miniapp::memory_need memory(const options& o, int /*rank*/) {
    const double rows = o.whole.points[0] / o.whole.grid[0] + 3.0;
    const double columns = o.whole.points[1] / o.whole.grid[1] + 3.0;
    const double arrays = o.whole.by == method::jacobi ? 3 : 2;
    // Beside the points: two buffers per side and way for two exchanges, and the sines in long double.
    return {sizeof(double) * (arrays * rows * columns + 32 * std::max(rows, columns) + 6 * (rows + columns)),
            "--points " + to_string(o.whole.points), "use more nodes or a smaller grid"};
}

/// What the steps give by plain messages: the fingerprint.
std::uint64_t by_plain_messages(domain& on, const options& o, MPI_Comm cart) {
    halo by(on, halo_kind::p2p, cart, false);
    miniapp::item_list steps;
    by.add_steps(steps);
    const auto runner = miniapp::make_baseline(steps, o.n_cores);
    on.reset();
    by.pack(0);
    runner->run(o.n_steps);
    return miniapp::sum_of(on.fingerprint(o.n_steps), cart);
}

miniapp::outcome run(const options& o, int rank) {
    const miniapp::mode& how = modes()[static_cast<std::size_t>(o.mode)];
    const std::array<int, 2> is_periodic{};
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 2, o.whole.grid.data(), is_periodic.data(), 0, &cart);
    domain on(o.whole, cart);
    // By messages, while nothing but this thread is in MPI.
    halo plain(on, halo_kind::p2p, cart, false);
    miniapp::item_list messages_alone;
    plain.add_steps(messages_alone);
    const double alone = miniapp::message_seconds(messages_alone, cart);
    std::vector<miniapp::phase_times> mine;
    miniapp::run_prints prints;
    miniapp::run_prints messages;
    halo by(on, o.by, cart, how.has_worker);
    miniapp::item_list steps;
    by.add_steps(steps);
    const auto runner = how.make(steps, o.n_cores);
    const auto one_run = [&](int n_steps) {
        on.reset();
        by.pack(0);
        by.barrier();
        return runner->run(n_steps);
    };
    one_run(std::min(o.n_steps, 20));
    by.left_of_messages();
    for (int k = 0; k < o.repeats; ++k) {
        mine.push_back(one_run(o.n_steps));
        prints.add(on.fingerprint(o.n_steps));
        messages.add(by.left_of_messages());
    }
    by.barrier();
    by.end();

    const auto all = miniapp::per_step(mine, o.n_steps, cart);
    const double points = 1e-6 * o.whole.points[0] * o.whole.points[1] / (o.whole.by == method::jacobi ? 1 : 2);
    const double speed = points / all[all.size() / 2].slowest_total;
    const double error = miniapp::largest_of(on.error(o.n_steps), cart);
    prints.sum(cart);
    messages.sum(cart);
    const std::uint64_t expected =
        by_plain_messages(on, o, cart); // last, so that nothing of it is left where runs are timed
    MPI_Comm_free(&cart);
    miniapp::outcome end{{miniapp::time_passed(all, speed),
                          messages.nothing_changed(),
                          prints.compare(expected, "by plain messages"),
                          {"every point is what the steps give exactly", error, domain::tolerance(o.n_steps)}}};
    if (rank != 0) return end;
    int n_halo = 0;
    for (int side = 0; side < n_sides; ++side) n_halo += on.has_neighbour(side) ? on.n_leaving(0, side) : 0;
    end.told = {{"program", "poisson2d"},
                {"points", o.whole.points},
                {"grid", o.whole.grid},
                {"ranks", o.whole.grid[0] * o.whole.grid[1]},
                {"method", method_names[static_cast<std::size_t>(o.whole.by)]},
                {"halo", halo_names[static_cast<std::size_t>(o.by)]},
                {"steps", o.n_steps},
                {"bands", on.n_bands()},
                {"cores", o.n_cores},
                {"halo_points", n_halo},
                {"messages_us", alone * 1e6},
                {"mpoints_per_s", speed},
                {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    miniapp::tell_times(end.told, how.name, all, alone, {.external = "external"});
    return end;
}

} // namespace

int main(int argc, char** argv) {
    auto parsed = parse_options(argc, argv);
    return miniapp::run_program(argc, argv, "poisson2d", parsed, settle, memory, run);
}
