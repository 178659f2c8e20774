// SPDX-License-Identifier: Apache-2.0
//
// Question: what does the oneTBB face cost, beside the usual hand-written ways? How long after MPI's completion a node's
// successor starts, and a task behind wait().
#include <array>

#include "harness/alternate.h"
#include "harness/report.h"
#include "harness/session.h"
#include "harness/yardstick.h"
#include "tbb/sides.h"
#include "unblock/completion_trigger.h"

namespace {

using namespace commtask::bench;

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
    out.add(all[1], all[0]);
    out.add(all[2], all[0]);
    out.add(all[3], all[1]);
    out.add(all[4], all[1]);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "The oneTBB face beside the usual hand-written ways.", ask);
}
