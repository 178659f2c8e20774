// SPDX-License-Identifier: Apache-2.0
// Forces in an ionic crystal by particle-mesh Ewald. Advantage: energies that are known to twelve digits, and forces that are zero.
// Disadvantage: ions keep their places, so no ion changes its patch, as it would in a simulation.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the mesh was refused.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/report_json.hpp"
#include "ewald.hpp"

#include <algorithm>
#include <cmath>

namespace {

using namespace mesh;
using miniapp::to_string;

constexpr double energy_tolerance = 1e-6;
constexpr double force_tolerance = 1e-9;
constexpr double split_tolerance = 1e-4; // of forces: the interpolation's own error is up to 1e-5
constexpr double displacement = 0.03;    // of the crystal whose forces are not zero

struct options : miniapp::usual_options {
    settings how;
    bool has_plan = false;
    int n_steps = 10;
};

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    std::vector<std::string> names;
    for (const crystal_kind& each : crystals()) names.emplace_back(each.name);
    int density = 8;
    miniapp::command_line line("mesh", "Particle-mesh Ewald for a crystal over MPI ranks; every run checks itself.");
    line.word("--crystal", o.how.of.kind, names, "of which ions");
    line.number("--cells", o.how.of.cells, 3, 64, "Unit cells along each axis");
    line.number("--density", density, 8, 32, "Mesh points along an edge of a unit cell, an even number");
    line.extents("--grid", o.how.fft.grid, 1 << 15, "2.1",
                 "Ranks of a row and a column of pencils; default: as square as it goes");
    line.word("--plan", o.has_plan, {"off", "on"},
              "in modes with tasks: record the messages of a step, then start them");
    line.usual(o, miniapp::modes(), 1);
    line.number("--steps", o.n_steps, 1, 10'000, "Evaluations of a run");
    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        settings& how = o.how;
        if (density % 2 != 0) {
            return "--density " + std::to_string(density) +
                   " is odd, and leaves ions between mesh points; choose an even number.";
        }
        if (o.has_plan && !o.has_worker)
            return "--plan on records communication tasks; choose --mode offload, omp or tbb.";
        how.n_mesh = density * how.of.cells;
        how.n_pieces = 4 * o.n_cores;
        how.fft.points = {how.n_mesh, how.n_mesh, how.n_mesh};
        how.fft.n_pieces = how.n_pieces;
        how.fft.by = o.has_plan ? fft3d::schedule::plan : fft3d::schedule::many_to_many;
        return {};
    });
    return parsed;
}

std::string settle(options& o, int n_ranks) {
    crystal& of = o.how.of;
    const auto grid = miniapp::best_grid<3>(n_ranks, [&](const std::array<int, 3>& patches) {
        const bool fits = std::ranges::max(patches) <= of.cells;
        return fits ? std::optional(patches[0] + patches[1] + patches[2]) : std::nullopt;
    });
    if (!grid) {
        return "--cells " + std::to_string(of.cells) + " leaves patches of some of " + std::to_string(n_ranks) +
               " ranks empty; choose more cells.";
    }
    of.grid = *grid;
    return fft3d::settle_grid(o.how.fft, n_ranks);
}

miniapp::memory_need memory(const options& o, int /*rank*/) {
    const double ions = o.how.of.n_ions() * 2 * (sizeof(ion) + 2 * sizeof(pull)); // own and neighbours'
    return {o.how.fft.bytes() * 1.5 + ions, "--mesh " + std::to_string(o.how.n_mesh),
            "use more nodes or a smaller mesh"};
}

/// The sum over all ranks of half the charges times the potentials.
double energy_of(const ewald& of) {
    double sum = 0;
    const std::vector<pull> pulls = of.pulls();
    for (std::size_t k = 0; k < pulls.size(); ++k) sum += of.ions()[k].charge * pulls[k].potential / 2;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/// The largest difference of a component of two forces.
double largest_difference(const std::vector<pull>& all, const std::vector<pull>& others) {
    double most = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (int d = 0; d < 3; ++d) {
            const double off = std::abs(all[k].force[d] - others[k].force[d]);
            most = off <= most ? most : std::isnan(off) ? 1 : off;
        }
    }
    return miniapp::largest_of(most, MPI_COMM_WORLD);
}

/// Of this rank.
std::uint64_t fingerprint(const ewald& of) {
    std::uint64_t bits = 0;
    const std::vector<pull> pulls = of.pulls();
    for (std::size_t k = 0; k < pulls.size(); ++k) {
        auto place = 4 * static_cast<std::uint64_t>(of.numbers()[k]);
        bits += miniapp::print_of(pulls[k].potential, place++);
        for (const double each : pulls[k].force) bits += miniapp::print_of(each, place++);
    }
    return bits;
}

/// What one evaluation by plain messages gives.
struct evaluation {
    double energy;
    std::vector<pull> pulls;
    std::uint64_t bits;
    double message_seconds;
};
evaluation evaluate(const settings& how) {
    ewald on(how, {MPI_COMM_WORLD, false, false});
    miniapp::item_list steps;
    for (int round = 0; round < 2; ++round) on.add_step(steps);
    steps.end(true);
    const double alone = miniapp::message_seconds(steps, MPI_COMM_WORLD) * steps.n_stages();
    miniapp::make_baseline(steps, 1)->run(steps.n_stages());
    const evaluation all{energy_of(on), on.pulls(), miniapp::sum_of(fingerprint(on), MPI_COMM_WORLD), alone};
    on.end();
    return all;
}

miniapp::outcome run(const options& o, int rank) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(o.mode)];
    settings plain = o.how;
    plain.fft.by = fft3d::schedule::many_to_many;
    const evaluation expected = evaluate(plain);
    plain.of.displacement = displacement;
    const evaluation moved = evaluate(plain);
    plain.beta *= 1.2;
    const evaluation other_split = evaluate(plain);

    ewald on(o.how, {MPI_COMM_WORLD, how.has_worker, o.has_plan});
    miniapp::item_list steps;
    for (int round = 0; round < 2; ++round) on.add_step(steps);
    steps.end(true);
    const auto runner = how.make(steps, o.n_cores);
    std::vector<miniapp::phase_times> mine;
    miniapp::run_prints prints;
    miniapp::run_prints messages;
    for (int k = -1; k < o.repeats; ++k) { // the first one warms up
        MPI_Barrier(MPI_COMM_WORLD);
        const miniapp::phase_times times = runner->run(o.n_steps * steps.n_stages());
        const std::uint64_t left = on.left_of_messages();
        if (k < 0) continue;
        mine.push_back(times);
        prints.add(fingerprint(on));
        messages.add(left);
    }
    const auto all = miniapp::per_step(mine, o.n_steps, MPI_COMM_WORLD);
    const crystal_kind& kind = o.how.of.of();
    const double madelung = -2 * energy_of(on) * kind.nearest / o.how.of.n_ions();
    const double force = largest_difference(on.pulls(), std::vector<pull>(on.pulls().size()));
    const double moved_force = largest_difference(moved.pulls, std::vector<pull>(moved.pulls.size()));
    const double speed = 1e-6 * o.how.of.n_ions() / all[all.size() / 2].slowest_total;
    prints.sum(MPI_COMM_WORLD);
    messages.sum(MPI_COMM_WORLD);
    miniapp::outcome end{{miniapp::time_passed(all, speed),
                          messages.nothing_changed(),
                          prints.compare(expected.bits, "by plain messages"),
                          {"energy: Madelung's constant", std::abs(madelung / kind.madelung - 1), energy_tolerance},
                          {"forces: zero by symmetry", force, force_tolerance},
                          {"splitting: the same energy of moved ions", std::abs(moved.energy / other_split.energy - 1),
                           energy_tolerance},
                          {"splitting: the same forces on moved ions",
                           largest_difference(moved.pulls, other_split.pulls) / moved_force, split_tolerance}}};
    on.end();
    if (rank != 0) return end;
    end.told = {{"program", "mesh"},
                {"crystal", kind.name},
                {"ions", o.how.of.n_ions()},
                {"mesh", o.how.fft.points},
                {"order", o.how.order},
                {"beta", o.how.beta},
                {"patches", o.how.of.grid},
                {"pencils", o.how.fft.grid},
                {"ranks", o.how.fft.grid[0] * o.how.fft.grid[1]},
                {"plan", o.has_plan},
                {"steps", o.n_steps},
                {"cores", o.n_cores},
                {"messages_us", expected.message_seconds * 1e6},
                {"madelung", madelung},
                {"mions_per_s", speed},
                {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    miniapp::tell_times(end.told, how.name, all, expected.message_seconds, {.external = "external"});
    return end;
}

} // namespace

int main(int argc, char** argv) {
    auto parsed = parse_options(argc, argv);
    return miniapp::run_program(argc, argv, "mesh", parsed, settle, memory, run);
}
