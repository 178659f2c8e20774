// SPDX-License-Identifier: Apache-2.0
//
// Question: what does the whole way cost, from post through the worker and back? Measured is an empty task, posted and
// waited for, sixteen in a row, with the worker awake on its own core. Two cache lines must cross at least: the slot
// there, the answer back. Goal: at most 1.7 ping-pongs of one line. Beside it the same with an MPI message to this rank
// in place of nothing, to show which part is the runtime's.
#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"
#include "harness/yardstick.h"

namespace {

using namespace commtask::bench;

constexpr int n_in_a_row = 16;

void post_and_wait(const commtask_op& op) {
    commtask_t task = COMMTASK_NULL;
    const int code = commtask_post_operation(&op, nullptr, &task);
    if (code < 0) {
        require(code, "commtask_post");
    }
    if (const int outcome = commtask_wait(&task, nullptr); outcome < 0) {
        require(outcome, "commtask_wait");
    }
}

/// Each sample is the mean of sixteen; the first two sixteens of a round wake the worker and are not counted.
template <typename Once>
void sample_in_a_row(int n_samples, round_samples& out, Once once) {
    for (int turn = -2; turn < n_samples; ++turn) {
        const std::uint64_t begin = ticks();
        for (int i = 0; i < n_in_a_row; ++i) {
            once();
        }
        if (turn >= 0) {
            out.push_back(ns_between(begin, ticks()) / n_in_a_row);
        }
    }
}

void send_to_self_and_wait() {
    static char sent[8] = {};
    static char received[8] = {};
    const commtask_op recv = commtask_op_recv(received, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    const commtask_op send = commtask_op_send(sent, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    std::array<commtask_t, 2> tasks{};
    require(commtask_post_operation(&recv, nullptr, &tasks[0]), "commtask_post");
    require(commtask_post_operation(&send, nullptr, &tasks[1]), "commtask_post");
    require(commtask_wait_all(tasks.size(), tasks.data(), nullptr), "commtask_wait_all");
}

/// The same message by the compute thread itself, with no task in flight: what MPI costs alone.
void send_to_self_by_mpi() {
    static char sent[8] = {};
    static char received[8] = {};
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(received, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(sent, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

void ask(session& here, const options& given) {
    yardstick line(here.cores().worker);
    const commtask_op nothing = commtask_op_noop(MPI_COMM_SELF);
    const std::array sides{
        ping_pong_side(line, "ns", 500),
        side{.name = "empty task",
             .unit = "ns",
             .measure = [&](round_samples& out) { sample_in_a_row(500, out, [&] { post_and_wait(nothing); }); }},
        side{.name = "message to itself, by tasks",
             .unit = "ns",
             .measure = [&](round_samples& out) { sample_in_a_row(200, out, send_to_self_and_wait); }},
        side{.name = "message to itself, by MPI alone", .unit = "ns", .measure = [&](round_samples& out) {
                 let_the_worker_sleep();
                 sample_in_a_row(200, out, send_to_self_by_mpi);
             }}};
    const std::vector<series> all = alternate(sides, given.rounds(60));

    report out("roundtrip", "one rank", here.machine());
    out.add(all[0]);
    out.add(all[1], all[0]);
    out.add(all[2], all[3]);
    out.add(all[3]);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What an empty task costs, posted and waited for.", ask);
}
