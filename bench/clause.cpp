// SPDX-License-Identifier: Apache-2.0
//
// Question: does the comm clause cost anything over the detach clause written by hand? Measured are both ends of a
// communication task, by one OpenMP thread on its own core: creating it (eight in a row, four receives and four sends to
// this rank, divided by eight), and from the moment MPI has the message to the first instruction of the task that
// depends on it. Goal: within 5 % of the same by hand, in the same run, the two sides alternated.
#include <commtask/omp.h>
#include <omp.h>

#include <random>

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"
#include "unblock/completion_trigger.h"

namespace {

using namespace commtask::bench;

constexpr int n_messages = 4;
constexpr int first_tag = 10;
constexpr int trigger_tag = 5;

struct messages {
    std::array<int, n_messages> sent{};
    std::array<int, n_messages> received{};
};

struct by_clause {
    static void receive(int& buffer, int tag) {
#pragma omp task depend(out : buffer) comm(recv : &buffer, 1, MPI_INT, 0, tag, MPI_COMM_SELF)
    }
    static void send(int& buffer, int tag) {
#pragma omp task depend(in : buffer) comm(send : &buffer, 1, MPI_INT, 0, tag, MPI_COMM_SELF)
    }
};

struct by_hand {
    static void receive(int& buffer, int tag) {
        omp_event_handle_t event{};
        commtask_omp_task prepared =
            commtask_omp_prepare(commtask_op_recv(&buffer, 1, MPI_INT, 0, tag, MPI_COMM_SELF), COMMTASK_NONE, nullptr);
#pragma omp task untied detach(event) firstprivate(event, prepared) depend(out : buffer)
        commtask_omp_start_prepared(&prepared, event);
    }
    static void send(int& buffer, int tag) {
        omp_event_handle_t event{};
        commtask_omp_task prepared =
            commtask_omp_prepare(commtask_op_send(&buffer, 1, MPI_INT, 0, tag, MPI_COMM_SELF), COMMTASK_NONE, nullptr);
#pragma omp task untied detach(event) firstprivate(event, prepared) depend(in : buffer)
        commtask_omp_start_prepared(&prepared, event);
    }
};

/// One sample per burst of eight tasks, in nanoseconds per task.
template <typename Form>
void sample_creation(int n_bursts, round_samples& out) {
    messages place;
#pragma omp parallel num_threads(1)
    for (int turn = -2; turn < n_bursts; ++turn) {
        const std::uint64_t begin = ticks();
        for (int i = 0; i < n_messages; ++i) Form::receive(place.received[static_cast<std::size_t>(i)], first_tag + i);
        for (int i = 0; i < n_messages; ++i) Form::send(place.sent[static_cast<std::size_t>(i)], first_tag + i);
        const std::uint64_t end = ticks();
#pragma omp taskwait
        if (turn >= 0) out.push_back(ns_between(begin, end) / (2 * n_messages));
    }
}

/// One sample per message, in microseconds.
template <typename Form>
void sample_unblock(int n_samples, round_samples& out) {
    static std::mt19937 random(1);
    std::uniform_int_distribution<std::uint64_t> delay_ns(30'000, 80'000);
    int received = 0;
    std::uint64_t first_instruction = 0;
#pragma omp parallel num_threads(1)
    for (int turn = -2; turn < n_samples; ++turn) {
        Form::receive(received, trigger_tag);
#pragma omp task depend(in : received) shared(first_instruction)
        first_instruction = ticks();
        send_before_a_test(delay_ns(random), trigger_tag);
#pragma omp taskwait
        if (turn >= 0) out.push_back(ns_between(message_came_at(), first_instruction) * 1e-3);
    }
}

void ask(session& here, const options& given) {
    const std::array sides{
        side{.name = "create by hand", .unit = "ns", .measure = [](auto& out) { sample_creation<by_hand>(200, out); }},
        side{.name = "create by clause",
             .unit = "ns",
             .measure = [](auto& out) { sample_creation<by_clause>(200, out); }},
        side{.name = "unblock by hand", .unit = "us", .measure = [](auto& out) { sample_unblock<by_hand>(50, out); }},
        side{.name = "unblock by clause", .unit = "us", .measure = [](auto& out) {
                 sample_unblock<by_clause>(50, out);
             }}};
    const std::vector<series> all = alternate(sides, given.rounds(200));
    if (tests_seen() == 0) {
        throw std::runtime_error("the runtime's tests bypass the trigger of this benchmark");
    }
    report out("clause", "one rank", here.machine());
    const goal within_5_percent = {.of = goal::field::ratio, .kind = goal::bound::at_most, .limit = 1.05};
    out.add(all[0]);
    out.add(all[1], all[0], {within_5_percent});
    out.add(all[2]);
    out.add(all[3], all[2], {within_5_percent});
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "The comm clause against the detach clause by hand.", ask);
}
