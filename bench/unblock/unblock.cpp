// SPDX-License-Identifier: Apache-2.0
//
// Question: how long after MPI has completed a receive does the OpenMP task that depends on it start? From the moment
// at which any test would find the receive complete to the first instruction of the task, with one OpenMP thread in a
// taskwait on its own core and the worker on another. Goals: median at most 5 us, 99 of 100 at most 20 us. Beside it, in
// the same run, the same from a thread that polls with a period: 2 ms as mpi-detach does, 100 us as TAMPI by default.
#include <commtask/omp.h>
#include <omp.h>

#include <random>

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"
#include "harness/yardstick.h"
#include "unblock/completion_trigger.h"
#include "unblock/periodic_poller.h"

namespace {

using namespace commtask::bench;

constexpr int tag = 5;

/// One receive, and when the task behind it began.
struct sample {
    int received = 0;
    std::uint64_t first_instruction = 0;
};

void sample_commtask(int n_samples, round_samples& out) {
    static std::mt19937 random(1);
    std::uniform_int_distribution<std::uint64_t> delay_ns(30'000, 80'000);
#pragma omp parallel num_threads(1)
    for (int turn = -2; turn < n_samples; ++turn) {
        sample one;
        require(COMM_TASK(recv(&one.received, 1, MPI_INT, 0, tag, MPI_COMM_SELF), out(&one)), "COMM_TASK");
#pragma omp task depend(in : one) shared(one)
        one.first_instruction = ticks();
        send_before_a_test(delay_ns(random), tag);
#pragma omp taskwait
        if (turn >= 0) {
            out.push_back(ns_between(message_came_at(), one.first_instruction) * 1e-3);
        }
    }
}

void sample_periodic(periodic_poller& poller, int n_samples, round_samples& out) {
#pragma omp parallel num_threads(1)
    for (int turn = -2; turn < n_samples; ++turn) {
        sample one;
        omp_event_handle_t event{};
#pragma omp task detach(event) depend(out : one)
        poller.receive([event] { omp_fulfill_event(event); });
#pragma omp task depend(in : one) shared(one)
        one.first_instruction = ticks();
        poller.send_soon();
#pragma omp taskwait
        if (turn >= 0) {
            out.push_back(ns_between(poller.completed_at(), one.first_instruction) * 1e-3);
        }
    }
}

/// A side whose threads exist only while it is measured: idle they would wake up in the other sides' time.
side periodic_side(const char* name, std::chrono::microseconds period, int core, int n_samples) {
    return {.name = name, .unit = "us", .measure = [=](round_samples& out) {
                let_the_worker_sleep();
                periodic_poller poller(period, core);
                sample_periodic(poller, n_samples, out);
            }};
}

void ask(session& here, const options& given) {
    const int core = here.cores().worker;
    yardstick line(core);
    const std::array sides{
        ping_pong_side(line, "us", 200),
        side{.name = "commtask", .unit = "us", .measure = [](round_samples& out) { sample_commtask(100, out); }},
        periodic_side("poll every 100 us (TAMPI's default)", std::chrono::microseconds(100), core, 50),
        periodic_side("poll every 2 ms (mpi-detach)", std::chrono::microseconds(2000), core, 10)};
    const std::vector<series> all = alternate(sides, given.rounds(60));
    if (tests_seen() == 0) {
        throw std::runtime_error("the runtime's tests bypass the trigger of this benchmark");
    }

    report out("unblock", "one rank", here.machine());
    out.add(all[0]);
    out.add(all[1], all[0]);
    out.add(all[2], all[1]);
    out.add(all[3], all[1]);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "From MPI's completion to the first instruction of the dependent task.", ask);
}
