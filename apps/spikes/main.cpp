// SPDX-License-Identifier: Apache-2.0
// A network of spiking cells, the exchange of spikes by allgather or by multicast. Advantage: messages that no rank knows of before they come,
// which halos and transforms do not have. Disadvantage: the simplest cells that there are, so messages weigh more than in a simulator.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/report_json.hpp"
#include "exchange.hpp"

namespace {

using namespace spikes;

const std::vector<std::string> exchange_names{"allgather", "halves", "multicast"};

struct options : miniapp::usual_options {
    model of;
    exchange_kind by = exchange_kind::multicast;
    int n_intervals = 200;
};

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    miniapp::command_line line("spikes",
                               "A network of spiking cells over MPI ranks; every run is compared with a serial one.");
    line.number("--cells", o.of.n_cells, 1, 10'000'000, "Of the network");
    line.number("--targets", o.of.n_targets, 1, 100'000, "Of each cell");
    line.number("--reach", o.of.reach, 1, 4'000'000, "Targets are at most so many cells away; default: anywhere");
    line.usual(o, miniapp::modes(), 1);
    line.word("--exchange", o.by, exchange_names, "how spikes travel; without it allgather in mode baseline");
    line.number("--intervals", o.n_intervals, 1, 1'000'000, "Per run, of 1 ms");
    line.number("--blocks", o.of.n_blocks, 1, 10'000, "Pieces of a rank's cells; default: four per core");
    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        if (o.of.n_blocks == 0) o.of.n_blocks = 4 * o.n_cores;
        if (!o.has_worker && line.app().get_option("--exchange")->count() == 0) o.by = exchange_kind::allgather;
        if (!o.has_worker && o.by == exchange_kind::multicast)
            return "--exchange multicast needs a worker; choose --mode offload, omp or tbb.";
        if (2 * o.of.reach < o.of.n_cells) return {};
        return "--reach " + std::to_string(o.of.reach) + " goes round the network; choose at most " +
               std::to_string((o.of.n_cells - 1) / 2) + ".";
    });
    return parsed;
}

std::string settle(options& o, int n_ranks) {
    o.of.n_ranks = n_ranks;
    if (1.0 * o.of.n_cells * o.of.n_targets / n_ranks < 1e9) return {};
    return "--cells and --targets make more than 10^9 connections a rank; use more ranks.";
}

miniapp::memory_need memory(const options& o, int rank) {
    const double n_own = 1.0 * o.of.n_cells / o.of.n_ranks;
    // Connections twice while their memory grows, their places in each block, input, and the spikes of a run: one in 5 ms. Rank 0 makes the
    // serial run, too.
    const double bytes =
        n_own * (16.0 * o.of.n_targets + 200 + 3.2 * o.n_intervals) + 4.0 * o.of.n_cells * o.of.n_blocks;
    return {bytes + (rank == 0 ? o.of.n_cells * (120 + 3.2 * o.n_intervals) : 0),
            "--cells " + std::to_string(o.of.n_cells), "use more nodes or a smaller network"};
}

miniapp::outcome run(const options& o, int rank) {
    const miniapp::mode& how = miniapp::modes()[o.mode];
    network on(o.of, rank);
    std::vector<miniapp::phase_times> mine;
    const auto one_run = [&](exchange& by, miniapp::runner& runner, int n_intervals) {
        by.reset();
        mine.push_back(runner.run(n_intervals * by.parts_per_interval()));
        by.finish(n_intervals * by.parts_per_interval());
    };
    const int n_warm_up = std::min(o.n_intervals, 20);
    double alone = 0; // what the allgather of an interval takes by plain MPI, when nothing else happens
    {
        exchange plain(on, exchange_kind::allgather, MPI_COMM_WORLD, false);
        one_run(plain, *miniapp::make_baseline(plain.parts(), o.n_cores), n_warm_up);
        alone = miniapp::message_seconds(plain.parts(), MPI_COMM_WORLD);
        plain.end();
    }
    exchange by(on, o.by, MPI_COMM_WORLD, how.has_worker);
    const auto runner = how.make(by.parts(), o.n_cores);
    one_run(by, *runner, n_warm_up);
    mine.clear();
    miniapp::run_prints prints, messages;
    for (int k = 0; k < o.repeats; ++k) {
        one_run(by, *runner, o.n_intervals);
        prints.add(fingerprint_of(on.raster()));
        messages.add(by.left_of_messages());
    }
    by.end();
    const auto all = miniapp::per_step(mine, o.n_intervals, MPI_COMM_WORLD);
    const auto n_spikes = static_cast<double>(miniapp::sum_of(on.raster().size(), MPI_COMM_WORLD));
    const auto n_sent = static_cast<double>(miniapp::sum_of(by.n_sent(), MPI_COMM_WORLD));
    const double speed = n_spikes * o.of.n_targets / o.n_intervals / all[all.size() / 2].slowest_total;
    prints.sum(MPI_COMM_WORLD);
    messages.sum(MPI_COMM_WORLD);
    std::vector<spike> serial; // last, so that nothing of it is left where runs are timed
    if (rank == 0) serial = fired_serially(o.of, o.n_intervals * steps_per_interval);
    const std::uint64_t expected = miniapp::sum_of(fingerprint_of(serial), MPI_COMM_WORLD);
    miniapp::outcome end{
        {miniapp::time_passed(all, speed), messages.nothing_changed(), prints.compare(expected, "the serial run")}};
    if (rank != 0) return end;
    end.told = {{"program", "spikes"},
                {"cells", o.of.n_cells},
                {"targets", o.of.n_targets},
                {"reach", o.of.reach},
                {"ranks", o.of.n_ranks},
                {"exchange", exchange_names[static_cast<std::size_t>(o.by)]},
                {"intervals", o.n_intervals},
                {"cores", o.n_cores},
                {"spikes_per_interval", n_spikes / o.n_intervals},
                {"messages_per_spike", n_sent / n_spikes},
                {"sums_per_interval", static_cast<double>(by.n_sums()) / o.n_intervals},
                {"messages_us", alone * 1e6},
                {"mevents_per_s", speed * 1e-6},
                {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    miniapp::tell_times(end.told, how.name, all, alone, {.step = "interval", .external = "external"});
    return end;
}

} // namespace

int main(int argc, char** argv) {
    auto parsed = parse_options(argc, argv);
    return miniapp::run_program(argc, argv, "spikes", parsed, settle, memory, run);
}
