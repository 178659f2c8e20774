// SPDX-License-Identifier: Apache-2.0
// Poisson's equation on a rectangle, by Jacobi or red-black Gauss-Seidel. Advantage: halos so small beside the work that each
// way of sending them can be compared in each mode. Disadvantage: one level, so it smooths and hardly solves.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the grid was refused.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/runtime_session.hpp"
#include "run.hpp"

namespace {

using poisson::options;

constexpr int most_points = 100'000'000; // along one side: four of its halos are counted in an int
constexpr std::array methods{"jacobi", "redblack"};
constexpr std::array halos{"p2p", "neighbor", "put", "get"};

/// Both as in "512.256".
std::string text_of(const std::array<int, 2>& both) { return std::to_string(both[0]) + "." + std::to_string(both[1]); }

template <class Names>
std::size_t index_in(const Names& names, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - std::begin(names));
}

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    std::string mode_name = "baseline";
    o.halo_name = halos[0];
    o.method_name = methods[1];
    int sweeps = 100;
    std::vector<int> points{512, 512};
    std::vector<int> grid;
    std::vector<std::string> mode_names;
    for (const poisson::mode& each : poisson::modes()) mode_names.emplace_back(each.name);
    CLI::App app{
        "Two-dimensional Poisson over MPI ranks, with halos by messages or one-sided; every run checks itself.",
        "poisson2d"};
    const auto number = [&](const char* name, int& value, int most, const char* text) {
        return app.add_option(name, value, text)->check(CLI::Range(1, most));
    };
    const auto pair = [&](const char* name, std::vector<int>& values, const char* text) {
        app.add_option(name, values, text)->delimiter('.')->expected(2)->check(CLI::Range(1, most_points));
    };
    const auto word = [&](const char* name, std::string& value, const auto& names, const char* text) {
        const std::vector<std::string> all(std::begin(names), std::end(names));
        app.add_option(name, value, text)->check(CLI::IsMember(all))->capture_default_str();
    };
    pair("--points", points, "Rows.columns of the grid; default 512.512");
    pair("--grid", grid, "Ranks along them; default: as square as it goes");
    word("--method", o.method_name, methods, "Of a sweep");
    word("--mode", mode_name, mode_names, "Who communicates, and what waits for it");
    word("--halo", o.halo_name, halos, "How halos travel");
    number("--sweeps", sweeps, 1'000'000, "Per run")->capture_default_str();
    number("--repeat", o.repeats, 10'000, "Timed runs; the median is reported")->capture_default_str();
    number("--threads", o.n_cores, 4096, "Cores per rank, communication thread included")->capture_default_str();
    number("--bands", o.whole.n_bands, 100'000, "Pieces of a step; default: four per core");
    app.add_option("--json", o.json_file, "Write everything to this file");
    miniapp::parse_into(parsed, app, argc, argv, [&]() -> std::string {
        o.whole.points = {points[0], points[1]};
        if (!grid.empty()) o.whole.grid = {grid[0], grid[1]};
        o.how = &poisson::modes()[index_in(mode_names, mode_name)];
        o.by = static_cast<poisson::halo_kind>(index_in(halos, o.halo_name));
        o.whole.by = static_cast<poisson::method>(index_in(methods, o.method_name));
        o.n_steps = o.whole.by == poisson::method::jacobi ? sweeps : 2 * sweeps;
        if (o.whole.n_bands == 0) o.whole.n_bands = 4 * o.n_cores;
        return {};
    });
    return parsed;
}

std::string settle(options& o, int n_ranks) {
    std::array<int, 2>& grid = o.whole.grid;
    if (grid[0] == 0) {
        MPI_Dims_create(n_ranks, 2, grid.data());
    } else if (static_cast<long long>(grid[0]) * grid[1] != n_ranks) {
        std::array<int, 2> works{};
        MPI_Dims_create(n_ranks, 2, works.data());
        return "--grid " + text_of(grid) + " is not the " + std::to_string(n_ranks) + " ranks of this run; choose " +
               text_of(works) + ".";
    }
    if (grid[0] > o.whole.points[0] || grid[1] > o.whole.points[1]) {
        return "--points " + text_of(o.whole.points) + " leaves ranks of the grid " + text_of(grid) +
               " without any; choose at least " + text_of(grid) + ".";
    }
    return {};
}

miniapp::memory_need memory(const options& o) {
    const double rows = o.whole.points[0] / o.whole.grid[0] + 3.0;
    const double columns = o.whole.points[1] / o.whole.grid[1] + 3.0;
    const double arrays = o.whole.by == poisson::method::jacobi ? 3 : 2;
    // Beside the points: two buffers per side and way for two exchanges, and the sines in long double.
    return {sizeof(double) * (arrays * rows * columns + 32 * std::max(rows, columns) + 6 * (rows + columns)),
            "--points " + text_of(o.whole.points), "use more nodes or a smaller grid"};
}

} // namespace

int main(int argc, char** argv) {
    miniapp::parsed<options> parsed = parse_options(argc, argv);
    options& settings = parsed.values;
    miniapp::program poisson2d{.name = "poisson2d",
                               .thread_level =
                                   settings.how != nullptr ? settings.how->thread_level : MPI_THREAD_FUNNELED,
                               .message = parsed.message,
                               .exit_code = parsed.exit_code,
                               .files = {{"--json", settings.json_file}},
                               .settle = [&](int n_ranks) { return settle(settings, n_ranks); },
                               .memory = [&](int, int) { return memory(settings); },
                               .run = {}};
    poisson2d.run = [&](int) {
        const miniapp::runtime_session runtime(settings.how->by_worker);
        std::string why_not;
        const bool passed = poisson::run(settings, MPI_COMM_WORLD, why_not);
        return miniapp::was_written(poisson2d, poisson2d.files.front(), why_not) && passed;
    };
    return miniapp::run_program(argc, argv, poisson2d);
}
