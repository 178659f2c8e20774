// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words; what the words mean together (lattice, grid, ranks, memory) is checked in settle().
// Every refusal is a sentence that is made before any thread, message or allocation of a field.
#include "options.hpp"

#include "common/command_line.hpp"

#include <limits>
#include <sstream>

namespace dslash {

namespace {

/// More would take days, and twice as many hops must fit an int.
constexpr int most_iterations = 1'000'000;
constexpr int most_extent = std::numeric_limits<int>::max();

} // namespace

parsed_options parse_options(int argc, const char* const* argv) {
    parsed_options parsed;
    options& o = parsed.values;
    coordinates lattice{}, grid{};
    std::array<int, 2> tile{}; // 0: chosen
    std::string width = "auto";
    bool has_short_links = false;
    miniapp::command_line line("lqcd_dslash",
                               "Wilson Dslash, even-odd, on a grid of MPI ranks; every run checks itself.");
    CLI::App& app = line.app();
    line.extents("--lattice", lattice, most_extent, "8.8.8.16", "Global extents X.Y.Z.T; default: 8.8.8.8 per rank");
    line.extents("--grid", grid, most_extent, "1.1.1.2",
                 "Ranks per dimension Px.Py.Pz.Pt; default: the grid with the smallest faces");
    line.word("--precision", o.kernel.real, precision_names, "precision of the fields and the kernel");
    o.mode = static_cast<int>(o.which);
    line.usual(o, modes(), n_directions);
    line.number("--iterations", o.iterations, 1, most_iterations, "Pairs of D_eo and D_oe per timed run");
    line.word("--check", o.check, check_names,
              "golden: compare with independently computed values; full: also with the naive operator at every site");
    line.word("--links", has_short_links, {"18", "12"},
              "reals stored per link; with 12 the kernel recomputes the third row");
    app.add_option("--width", width,
                   "SIMD width in bytes: 64|32|16|8|4; default: the largest that the target processor has and the "
                   "lattice allows");
    line.extents("--tile", tile, most_extent, "2.4",
                 "Tile extents T.Z in the sub-lattice of a SIMD lane; default: automatic");
    line.word("--solve", o.solve, method_names, "Solve (1 - kappa D) x = b for a random b to a residual of 1e-10");
    CLI::Option* const kappa = app.add_option("--kappa", o.kappa, "Of --solve, below 0.25")->capture_default_str();
    line.number("--probe-every", o.probe_every, 1, most_iterations, "Mode iprobe: interior tiles between probes");
    line.word("--plan", o.has_plan, {"off", "on"},
              "modes offload, omp and tbb: start the messages of an iteration by one post");
    app.add_flag("--bind", o.is_bound,
                 "Mode omp: one task packs and sends a face, and completes with the message (needs lqcd_dslash_bind)");
    app.add_flag("--force-comm", o.force_comm, "Also send faces of undivided directions through MPI");
    line.word("--bad", o.bad, bad_names, "a deliberate mistake that a trace shows; mode offload only");

    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        if (lattice[0] != 0) o.lattice = lattice;
        if (grid[0] != 0) o.grid = grid;
        o.which = modes()[static_cast<std::size_t>(o.mode)].which;
        if (o.bad != bad_habit::none && o.which != mode::offload)
            return "--bad " + bad_names[static_cast<std::size_t>(o.bad)] + " works with --mode offload only; add that.";
        const std::string solves = "--solve " + method_names[static_cast<std::size_t>(o.solve)];
        if (o.solve == method::none && kappa->count() > 0) return "--kappa works with --solve only; add that.";
        if (!(o.kappa > 0 && o.kappa < 0.25))
            return "--kappa " + std::to_string(o.kappa) + " is not between 0 and 0.25; choose one that is.";
        if (o.solve != method::none && o.bad != bad_habit::none)
            return "--bad works without --solve only; choose one of them.";
        if (o.solve != method::none && app.count("--iterations") > 0)
            return solves + " ends by its residual, not after --iterations; choose one of them.";
        if (o.is_bound && o.which != mode::omp) return "--bind works with --mode omp only; add that.";
        if (o.is_bound && o.has_plan && app.count("--plan") > 0) {
            return "--bind and --plan on are two forms of a hop's messages; choose one.";
        }
        o.has_plan = o.has_plan && !o.is_bound;
        if (has_short_links) o.kernel.link_reals = 12;
        if (width != "auto") {
            std::istringstream in(width);
            if (!(in >> o.kernel.width_bytes) || !in.eof() || o.kernel.width_bytes < 1) {
                return "--width " + width + " is not a number of bytes; choose 64, 32, 16 or one real.";
            }
        }
        if (o.solve != method::none && o.kernel.real == precision::single && o.kernel.width_bytes > 32) {
            return "--width " + width + ": " + solves + " needs as many lanes in double precision; choose 32, 16 or 4.";
        }
        o.kernel.tile_t = tile[0];
        o.kernel.tile_z = tile[1];
        o.kernel.n_threads = o.n_cores;
        return {};
    });
    return parsed;
}

std::string settle(options& values, int n_ranks) {
    if (!values.lattice) {
        if (!values.grid) values.grid = choose_grid({8 * n_ranks, 8 * n_ranks, 8 * n_ranks, 8 * n_ranks}, n_ranks);
        // First, since the lattice of a grid that is far too large would overflow.
        if (std::string no = refuse_grid({}, *values.grid, n_ranks); !no.empty()) return no;
        values.lattice = coordinates{};
        for (int mu = 0; mu < n_dimensions; ++mu) (*values.lattice)[mu] = 8 * (*values.grid)[mu];
    }
    if (!values.grid) {
        values.grid = choose_grid(*values.lattice, n_ranks);
        if (!values.grid) {
            // No grid works for this lattice: cut T alone, which every lattice can be stretched to.
            const coordinates along_t{1, 1, 1, n_ranks};
            return "lattice " + to_string(*values.lattice) + " cannot be cut among " + std::to_string(n_ranks) +
                   " ranks into even local extents of at least 4; nearest that works: --lattice " +
                   to_string(nearest_lattice(*values.lattice, along_t)) + " --grid " + to_string(along_t) + ".";
        }
    }
    std::string no = refusal(*values.lattice, *values.grid, n_ranks);
    if (!no.empty()) return no;
    no = width_refusal(make_geometry(*values.lattice, *values.grid, 0, values.force_comm), values.kernel);
    if (!no.empty()) return no;
    return {};
}

miniapp::memory_need memory(const options& values) {
    const geometry geom = make_geometry(*values.lattice, *values.grid, 0, values.force_comm);
    const double real_bytes = values.kernel.real == precision::double_ ? 8 : 4;
    const double n_fields = values.solve == method::none ? 5 : solver::n_fields;
    const auto volume = static_cast<double>(geom.local_volume());
    double reals = volume * (8.0 * values.kernel.link_reals + n_fields * 24);
    for (int mu = 0; mu < n_dimensions; ++mu) {
        // Half a spinor for each site of two faces, to send and to receive.
        if (geom.communicated[mu]) reals += volume / geom.local_extent(mu) * 2 * 12 * 2;
    }
    double bytes = reals * real_bytes;
    if (values.solve != method::none) {
        constexpr double n_doubles = solver::n_double_fields + 3; // b, x and the preconditioned b
        bytes += (volume * n_doubles + static_cast<double>(geom.global_volume())) * sizeof(spinor);
        if (values.kernel.real == precision::single) bytes += reals * sizeof(double); // the other operator, in excess
    }
    return {bytes, "lattice " + to_string(*values.lattice), "use more nodes or a smaller lattice"};
}

} // namespace dslash
