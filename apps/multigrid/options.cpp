// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words; what the words mean together (cells, boxes, ranks, memory) is checked in settle(). Every refusal is a
// sentence that is made before any thread, message or allocation of a field.
#include "options.hpp"

#include "common/command_line.hpp"

#include <algorithm>
#include <bit>
#include <sstream>
#include <tuple>

namespace multigrid {

namespace {

constexpr int least_cycles = 6; // so that the error is that of the grid
constexpr int most_cells = 1 << 14;
constexpr int most_boxes = 4096;
constexpr int most_boxes_on_side = 512;
constexpr int widest_bottom = 16;

std::optional<extents> parse_extents(const std::string& text) {
    std::istringstream in(text);
    extents values{};
    char dot = '.';
    for (int d = 0; d < 3; ++d) {
        if ((d > 0 && !(in >> dot)) || dot != '.' || !(in >> values[d]) || values[d] < 1) return std::nullopt;
    }
    return in.peek() == EOF ? std::optional{values} : std::nullopt;
}

/// With the smallest faces, of ranks that hold whole boxes.
std::optional<extents> choose_grid(const extents& cells, int box, int n_ranks) {
    std::optional<extents> best;
    double least = 0;
    for (int z = n_ranks; z >= 1; --z) {
        for (int y = n_ranks / z; y >= 1; --y) {
            const extents grid{n_ranks / z / y, y, z};
            bool fits = volume(grid) == n_ranks;
            double faces = 0;
            for (int d = 0; d < 3; ++d) {
                fits = fits && cells[d] % (static_cast<long>(box) * grid[d]) == 0;
                faces += (grid[d] - 1.0) / cells[d];
            }
            if (!fits || (best && faces >= least)) continue;
            best = grid;
            least = faces;
        }
    }
    return best;
}

} // namespace

std::string to_string(const extents& values) {
    return std::to_string(values[0]) + "." + std::to_string(values[1]) + "." + std::to_string(values[2]);
}

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    std::string cells, mode_name = "baseline", ghosts = "aggregated", selective = "on", check = "order", names;
    for (const mode_description& m : modes()) names += (names.empty() ? "" : "|") + std::string(m.name);
    CLI::App app{"Geometric multigrid for -Laplace u = f in three dimensions; every run checks itself.", "multigrid"};
    app.add_option("--cells", cells, "Global extents X.Y.Z; default: 64.64.64 per rank");
    app.add_option(
           "--box", o.box,
           "Cells of a box per dimension, a power of two from 8 on: of 64.64.64 cells 64 gives 1 box, 16 gives 64")
        ->capture_default_str();
    app.add_option("--ghosts", ghosts,
                   "aggregated|faces: one message for each neighbour rank, or for each face of a box")
        ->capture_default_str();
    app.add_option("--mode", mode_name, names)->capture_default_str();
    app.add_option("--threads", o.n_cores, "Cores per rank, communication thread included")->capture_default_str();
    app.add_option("--lanes", o.n_lanes, "Communication workers per rank; more than one: not with baseline")
        ->capture_default_str();
    app.add_option("--selective", selective,
                   "on|off: on few lanes what several would not speed up, or all on all lanes")
        ->capture_default_str();
    app.add_option("--cycles", o.n_cycles, "V-cycles per timed run")->capture_default_str();
    app.add_option("--repeat", o.n_repeats, "Timed runs; the median is reported")->capture_default_str();
    app.add_option("--check", check, "order|full: full compares with one box on one thread, bit by bit")
        ->capture_default_str();
    app.add_option("--json", o.json_file, "Write everything to this file");
    miniapp::parse_into(parsed, app, argc, argv, [&]() -> std::string {
        if (!cells.empty()) {
            const auto given = parse_extents(cells);
            if (!given || std::ranges::max(*given) > most_cells) {
                return "--cells " + cells + " is not three numbers X.Y.Z; choose from 1 to " +
                       std::to_string(most_cells) + ", such as 64.64.128.";
            }
            o.whole.cells = *given;
        }
        const auto how = std::ranges::find(modes(), mode_name, &mode_description::name);
        if (how == modes().end()) return "--mode " + mode_name + " is unknown; choose " + names + ".";
        o.how = *how;
        for (const auto& [option, value, one, other, to] :
             {std::tuple{"--ghosts", &ghosts, "aggregated", "faces", &o.is_aggregated},
              {"--selective", &selective, "on", "off", &o.is_selective},
              {"--check", &check, "full", "order", &o.is_fully_checked}}) {
            if (*value != one && *value != other)
                return std::string(option) + " " + *value + " is unknown; choose " + one + " or " + other + ".";
            *to = *value == one;
        }
        for (const auto& [option, value, least, most] : {std::tuple{"--threads", o.n_cores, 1, 4096},
                                                         {"--lanes", o.n_lanes, 1, 16},
                                                         {"--box", o.box, 8, 1024},
                                                         {"--cycles", o.n_cycles, least_cycles, 10'000},
                                                         {"--repeat", o.n_repeats, 1, 10'000}}) {
            if (value >= least && value <= most) continue;
            return std::string(option) + " " + std::to_string(value) + " is not between " + std::to_string(least) +
                   " and " + std::to_string(most) + "; choose one that is.";
        }
        if (!std::has_single_bit(static_cast<unsigned>(o.box)))
            return "--box " + std::to_string(o.box) + " is no power of two; choose 8, 16, 32 or 64.";
        if (o.n_lanes > 1 && o.how.which == mode::baseline)
            return "--lanes works with modes that have a worker; choose offload, omp or tbb.";
        return {};
    });
    return parsed;
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
               to_string({o.box, o.box, o.box * n_ranks}) + " works.";
    }
    o.whole.grid = *grid;
    o.whole.box = {o.box, o.box, o.box};
    const extents boxes = o.whole.boxes();
    const int on_side = boxes[0] * boxes[1] * boxes[2] / std::ranges::min(boxes);
    if (volume(boxes) > most_boxes || on_side > most_boxes_on_side) {
        return what + " make " + std::to_string(volume(boxes)) + " boxes on a rank, and " + std::to_string(most_boxes) +
               " (" + std::to_string(most_boxes_on_side) + " on a side) are the most; choose a larger --box.";
    }
    for (int n : cells) {
        while (n % 2 == 0) n /= 2;
        if (n > widest_bottom)
            return what + " cannot be halved often enough; choose a power of two, or one times a number up to 15.";
    }
    return {};
}

miniapp::memory_need memory(const options& o, int rank) {
    constexpr double of_all_levels = 8.0 / 7, bytes_per_item = 400, items_per_box = 200;
    const double ghosts = (o.box + 2.0) * (o.box + 2.0) * (o.box + 2.0) / o.box / o.box / o.box;
    const auto whole = static_cast<double>(volume(o.whole.cells));
    const auto n_ranks = static_cast<double>(volume(o.whole.grid));
    const auto boxes = static_cast<double>(volume(o.whole.boxes()));
    const double fields = 2 * sizeof(double) * of_all_levels;
    double bytes = whole / n_ranks * ghosts * fields + boxes * items_per_box * bytes_per_item;
    if (o.is_fully_checked && rank == 0) bytes += whole * fields;
    return {bytes, "multigrid with cells " + to_string(o.whole.cells), "use more nodes or fewer cells"};
}

} // namespace multigrid
