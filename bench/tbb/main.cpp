// SPDX-License-Identifier: Apache-2.0
//
// Question: what does the oneTBB face cost, beside the usual hand-written ways? How long after MPI's completion a node's
// successor starts (goals: median at most 5 us, 99 of 100 at most 20 us), what 100 000 receives in a graph of as many
// nodes cost, and what a graph costs that only waits.
#include <array>

#include "harness/alternate.h"
#include "harness/report.h"
#include "harness/session.h"
#include "harness/yardstick.h"
#include "tbb/sides.h"
#include "unblock/completion_trigger.h"

namespace {

using namespace commtask::bench;

result one_figure(const char* name, const char* unit, std::vector<double> samples) {
    result row;
    row.name = name;
    row.unit = unit;
    row.rounds = {std::move(samples)};
    return row;
}

void ask(session& here, const options& given) {
    const int core = here.cores().worker;
    yardstick line(core);
    const std::array sides{
        ping_pong_side(line, "us", 200),
        side{.name = "successor of recv_node",
             .unit = "us",
             .measure = [](round_samples& out) { sample_node(100, out); }},
        side{.name = "task behind wait()", .unit = "us", .measure = [](round_samples& out) { sample_wait(100, out); }},
        side{.name = "async_node and a thread in MPI",
             .unit = "us",
             .measure = [core](round_samples& out) { sample_thread_in_wait(core, 100, out); }},
        side{.name = "polling in a task", .unit = "us", .measure = [](round_samples& out) {
                 sample_polling_task(100, out);
             }}};
    const std::vector<series> all = alternate(sides, given.rounds(60));
    if (tests_seen() == 0) {
        throw std::runtime_error("the runtime's tests bypass the trigger of this benchmark");
    }

    report out("tbb", "one rank", here.machine());
    out.add(all[0]);
    const std::vector<goal> soon{{.of = goal::field::median, .kind = goal::bound::at_most, .limit = 5},
                                 {.of = goal::field::p99, .kind = goal::bound::at_most, .limit = 20}};
    out.add(all[1], all[0]).goals = soon;
    out.add(all[2], all[0]).goals = soon;
    out.add(all[3], all[1]);
    result& polling = out.add(all[4], all[1]);
    polling.note = "the thread polls all the time and computes nothing";

    const std::size_t n_receives = given.is_quick ? 10'000 : 100'000;
    std::array<round_samples, 6> many;
    for (std::size_t turn = 0; turn < 3; ++turn) {
        const many_receives one = measure_many_receives(n_receives);
        const double by_mpi = measure_many_receives_of_mpi(n_receives);
        const std::array figures{one.build_us,   one.start_us, one.complete_us,
                                 one.node_bytes, by_mpi,       measure_cancel(n_receives)};
        for (std::size_t i = 0; i < figures.size(); ++i) {
            // Later turns use memory that the first one took from the system.
            if (i != 3 || turn == 0) many[i].push_back(figures[i]);
        }
    }
    const std::string of = std::to_string(n_receives) + " receives: ";
    out.add(one_figure((of + "make node, successor, edge").c_str(), "us", many[0]));
    out.add(one_figure((of + "start").c_str(), "us", many[1]));
    out.add(one_figure((of + "send, complete, run successor").c_str(), "us", many[2]));
    out.add(one_figure((of + "cancel the graph").c_str(), "us", many[5]));
    out.add(one_figure((of + "MPI alone, all of it").c_str(), "us", many[4]));
    out.add(one_figure((of + "memory per node").c_str(), "B", many[3]));
    round_samples idle;
    for (std::size_t turn = 0; turn < 3; ++turn) {
        idle.push_back(1e2 * measure_idle_graph(std::chrono::milliseconds(given.is_quick ? 300 : 2000)));
    }
    result idle_row = one_figure("idle graph", "% of a core", idle);
    idle_row.note = "all threads but the worker, which spins on a core of its own while a receive is outstanding";
    out.add(idle_row);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "The oneTBB face beside the usual hand-written ways.", ask);
}
