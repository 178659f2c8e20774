// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words; what the words mean together (lattice, grid, ranks, memory) is checked in settle().
// Every refusal is a sentence that is made before any thread, message or allocation of a field.
#include "options.hpp"

#include "common/command_line.hpp"

#include <sstream>
#include <tuple>

namespace dslash {

namespace {

std::string mode_names() {
    std::string names;
    for (const mode_description& m : modes()) names += (names.empty() ? "" : "|") + std::string(m.name);
    return names;
}

std::string bad_names() {
    std::string names;
    for (const bad_description& each : bad_habits()) names += (names.empty() ? "" : "|") + std::string(each.name);
    return names;
}

/// More would take days, and twice as many hops must fit an int.
constexpr int most_iterations = 1'000'000;
constexpr int most_repeats = 10'000;

std::string refuse_count(const char* option, int value, int most) {
    if (value >= 1 && value <= most) return {};
    return std::string(option) + " " + std::to_string(value) + " is not between 1 and " + std::to_string(most) +
           "; choose one that is.";
}

} // namespace

parsed_options parse_options(int argc, const char* const* argv) {
    parsed_options parsed;
    options& o = parsed.values;
    std::string lattice;
    std::string grid;
    std::string tile = "auto";
    std::string precision_name = "double";
    std::string mode_name = "baseline";
    std::string check_name = "golden";
    std::string width = "auto";
    std::string bad_name;
    std::string plan = "on";
    CLI::App app{"Wilson Dslash, even-odd, on a grid of MPI ranks; every run checks itself.", "lqcd_dslash"};
    app.add_option("--lattice", lattice, "Global extents X.Y.Z.T; default: 8.8.8.8 per rank");
    app.add_option("--grid", grid, "Ranks per dimension Px.Py.Pz.Pt; default: the smallest faces");
    app.add_option("--precision", precision_name, "double|single")->capture_default_str();
    app.add_option("--mode", mode_name, mode_names())->capture_default_str();
    app.add_option("--threads", o.n_cores, "Cores per rank, communication thread included")->capture_default_str();
    app.add_option("--iterations", o.iterations, "D_eo and D_oe per timed run")->capture_default_str();
    app.add_option("--repeat", o.repeats, "Timed runs; the median is reported")->capture_default_str();
    app.add_option("--check", check_name, "none|golden|full")->capture_default_str();
    app.add_option("--links", o.kernel.link_reals, "Reals stored per link: 18, or 12 (third row rebuilt)")
        ->capture_default_str();
    app.add_option("--width", width, "SIMD width in bytes: 64|32|16|8|4; default: the widest that fits");
    app.add_option("--tile", tile, "Tile extents T.Z in the lanes' sub-lattice; default: chosen");
    app.add_option("--probe-every", o.probe_every, "Mode iprobe: interior tiles between probes")->capture_default_str();
    app.add_option("--kappa", o.kappa, "Hopping parameter in the check of M = 1 - kappa D")->capture_default_str();
    app.add_option("--plan", plan, "on|off: modes offload, omp and tbb start the messages of a hop by one post")
        ->capture_default_str();
    app.add_option("--lanes", o.n_lanes, "Modes offload, omp and tbb: spread the messages over so many lanes")
        ->capture_default_str();
    app.add_flag("--hold", o.is_held, "Mode omp: packing a face and sending it are one task, which the message holds");
    app.add_flag("--force-comm", o.force_comm, "Send directions that are not cut through MPI as well");
    app.add_option("--bad", bad_name,
                   bad_names() + ": a mistake on purpose, to look for in a trace; mode offload only");
    app.add_option("--json", o.json_file, "Write everything to this file");

    miniapp::parse_into(parsed, app, argc, argv, [&]() -> std::string {
        if (!lattice.empty() && !(o.lattice = parse_coordinates(lattice))) {
            return "--lattice " + lattice + " is not four positive numbers X.Y.Z.T, such as 8.8.8.16.";
        }
        if (!grid.empty() && !(o.grid = parse_coordinates(grid))) {
            return "--grid " + grid + " is not four positive numbers Px.Py.Pz.Pt, such as 1.1.1.2.";
        }
        if (precision_name != "double" && precision_name != "single") {
            return "--precision " + precision_name + " is unknown; choose double or single.";
        }
        o.kernel.real = precision_name == "double" ? precision::double_ : precision::single;
        bool known_mode = false;
        for (const mode_description& m : modes()) {
            if (mode_name != m.name) continue;
            o.which = m.which;
            known_mode = true;
        }
        if (!known_mode) return "--mode " + mode_name + " is unknown; choose " + mode_names() + ".";
        if (!bad_name.empty()) {
            for (const bad_description& each : bad_habits()) {
                if (bad_name == each.name) o.bad = each.which;
            }
            if (o.bad == bad_habit::none) return "--bad " + bad_name + " is unknown; choose " + bad_names() + ".";
            if (o.which != mode::offload) return "--bad " + bad_name + " works with --mode offload only; add that.";
        }
        if (plan != "on" && plan != "off") return "--plan " + plan + " is unknown; choose on or off.";
        if (o.is_held && o.which != mode::omp) return "--hold works with --mode omp only; add that.";
        if (o.is_held && plan == "on" && app.count("--plan") > 0) {
            return "--hold and --plan on are two forms of a hop's messages; choose one.";
        }
        o.has_plan = plan == "on" && !o.is_held;
        if (check_name == "none") {
            o.check = check_level::none;
        } else if (check_name == "full") {
            o.check = check_level::full;
        } else if (check_name != "golden") {
            return "--check " + check_name + " is unknown; choose none, golden or full.";
        }
        if (o.n_cores < 1 || o.n_cores > 4096) return "--threads must be between 1 and 4096.";
        for (const auto& [option, value, most] : {std::tuple{"--iterations", o.iterations, most_iterations},
                                                  {"--repeat", o.repeats, most_repeats},
                                                  {"--probe-every", o.probe_every, most_iterations}}) {
            if (std::string no = refuse_count(option, value, most); !no.empty()) return no;
        }
        if (o.n_lanes < 1 || o.n_lanes > n_directions)
            return "--lanes must be between 1 and 8, one for each direction.";
        if (o.n_lanes > 1 && !has_worker(o.which))
            return "--lanes works with --mode offload, omp or tbb only; add one.";
        if (!(o.kappa > 0 && o.kappa < 1)) return "--kappa must be between 0 and 1.";
        if (o.kernel.link_reals != 18 && o.kernel.link_reals != 12) return "--links must be 18 or 12.";
        if (width != "auto") {
            std::istringstream in(width);
            if (!(in >> o.kernel.width_bytes) || !in.eof() || o.kernel.width_bytes < 1) {
                return "--width " + width + " is not a number of bytes; choose 64, 32, 16 or one real.";
            }
        }
        if (tile != "auto") {
            char dot = 0;
            std::istringstream in(tile);
            const bool read = static_cast<bool>(in >> o.kernel.tile_t >> dot >> o.kernel.tile_z);
            if (!read || dot != '.' || in.peek() != EOF || o.kernel.tile_t < 1 || o.kernel.tile_z < 1) {
                return "--tile " + tile + " is not two positive numbers T.Z, such as 2.4.";
            }
        }
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
    constexpr double n_fields = 5;
    const auto volume = static_cast<double>(geom.local_volume());
    double reals = volume * (8.0 * values.kernel.link_reals + n_fields * 24);
    for (int mu = 0; mu < n_dimensions; ++mu) {
        // Half a spinor for each site of two faces, to send and to receive.
        if (geom.communicated[mu]) reals += volume / geom.local_extent(mu) * 2 * 12 * 2;
    }
    constexpr double n_chains = 2; // the plain one's list of hops and the timed one's
    return {reals * real_bytes + n_chains * 2.0 * values.iterations * sizeof(hop_step),
            "lattice " + to_string(*values.lattice), "use more nodes or a smaller lattice"};
}

} // namespace dslash
