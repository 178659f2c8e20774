// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a trace cost? Measured are tasks to this rank from post to the end of the wait, and events alone, with
// COMMTASK_TRACE and without, in turns: the library is started anew for each. An event is a record with its time; without a
// trace the same call is a branch.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <commtask/trace.h>

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"

namespace {

using namespace commtask::bench;

constexpr int burst = 8;

/// The library, with a trace or without.
class started {
public:
    explicit started(const std::string& folder) {
        setenv("COMMTASK_TRACE", folder.c_str(), 1); // empty: not set
        setenv("COMMTASK_VERBOSE", "0", 1);
        require(commtask_init(nullptr), "commtask_init");
    }
    started(const started&) = delete;
    started& operator=(const started&) = delete;
    ~started() { static_cast<void>(commtask_finalize()); }
};

void run_burst() {
    std::array<char, burst> bytes{};
    std::array<commtask_t, burst> tasks{};
    int worst = COMMTASK_OK;
    for (int i = 0; i < burst; ++i) {
        const bool sends = i >= burst / 2;
        char* const place = &bytes.at(static_cast<std::size_t>(i));
        const int tag = i % (burst / 2);
        const commtask_op op = sends ? commtask_op_send(place, 1, MPI_BYTE, 0, tag, MPI_COMM_SELF)
                                     : commtask_op_recv(place, 1, MPI_BYTE, 0, tag, MPI_COMM_SELF);
        worst = std::min(worst, commtask_post_operation(&op, nullptr, &tasks.at(static_cast<std::size_t>(i))));
    }
    require(worst, "commtask_post");
    require(commtask_wait_all(burst, tasks.data(), nullptr), "commtask_wait_all");
}

void sample_tasks(const std::string& folder, int n_bursts, round_samples& out) {
    const started library{folder};
    for (int turn = -n_bursts / 10; turn < n_bursts; ++turn) {
        const std::uint64_t begin = ticks();
        run_burst();
        if (turn >= 0) out.push_back(ns_between(begin, ticks()) / burst);
    }
}

/// A pair of calls is two events.
void sample_events(const std::string& folder, int n_samples, round_samples& out) {
    const started library{folder};
    const std::uint32_t name = commtask_trace_text("nothing");
    constexpr int per_sample = 100;
    for (int sample = -n_samples / 10; sample < n_samples; ++sample) {
        const std::uint64_t begin = ticks();
        for (int i = 0; i < per_sample; ++i) {
            commtask_trace_region_begin(COMMTASK_TRACE_REGION_PROGRAM, name);
            commtask_trace_region_end(COMMTASK_TRACE_REGION_PROGRAM, name);
        }
        if (sample >= 0) out.push_back(ns_between(begin, ticks()) / (2 * per_sample));
    }
}

void ask(session& here, const options& given) {
    std::string folder = (std::filesystem::temp_directory_path() / "commtask-bench-trace-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for a trace: " + folder);
    require(commtask_finalize(), "commtask_finalize"); // of the session's, which ends another one
    const std::string none;
    const auto tasks = [](const std::string& where) {
        return [&where](round_samples& out) { sample_tasks(where, 1000, out); };
    };
    const auto events = [](const std::string& where) {
        return [&where](round_samples& out) { sample_events(where, 2000, out); };
    };
    const std::array sides{side{.name = "task, no trace", .unit = "ns", .measure = tasks(none)},
                           side{.name = "task, trace", .unit = "ns", .measure = tasks(folder)},
                           side{.name = "event, no trace", .unit = "ns", .measure = events(none)},
                           side{.name = "event, trace", .unit = "ns", .measure = events(folder)}};
    const std::vector<series> all = alternate(sides, given.rounds(30));
    report out("trace", "one rank", here.machine());
    out.add(all[0]);
    out.add(all[1], all[0]);
    out.add(all[2]);
    out.add(all[3], all[2]);
    out.publish(given.json_file);
    unsetenv("COMMTASK_TRACE");
    std::filesystem::remove_all(folder);
    require(commtask_init(nullptr), "commtask_init");
}

} // namespace

int main(int argc, char** argv) { return run_benchmark(argc, argv, "What a trace costs a task and an event.", ask); }
