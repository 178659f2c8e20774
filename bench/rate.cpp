// SPDX-License-Identifier: Apache-2.0
//
// Question: how many tasks and messages per second, with how many outstanding? Rates are of windows: n posted, then all waited
// for. A message is a receive and a send of 8 bytes to this rank; MPI alone does the same by Irecv, Isend and Waitall.
#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"

namespace {

using namespace commtask::bench;

constexpr int tag_used = 1;
constexpr int n_per_sample = 4096; ///< Tasks or messages behind one sample of a rate, whatever the window.

struct message {
    std::array<char, 8> sent{};
    std::array<char, 8> received{};
};

void post(const commtask_op& op, commtask_t* task) {
    if (const int code = commtask_post_operation(&op, nullptr, task); code < 0) {
        require(code, "commtask_post");
    }
}

void wait_for_all(std::vector<commtask_t>& tasks) {
    require(commtask_wait_all(tasks.size(), tasks.data(), nullptr), "commtask_wait_all");
}

commtask_op recv_of(message& place, int tag) {
    return commtask_op_recv(place.received.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_SELF);
}

commtask_op send_of(message& place, int tag) {
    return commtask_op_send(place.sent.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_SELF);
}

/// Millions per second, where `window(n)` does n of something.
template <typename Window>
void sample_rate(int n_outstanding, round_samples& out, Window window) {
    window(n_outstanding);
    const std::uint64_t begin = ticks();
    int n_done = 0;
    for (; n_done < n_per_sample; n_done += n_outstanding) {
        window(n_outstanding);
    }
    out.push_back(n_done / ns_between(begin, ticks()) * 1e3);
}

void empty_tasks(int n) {
    static std::vector<commtask_t> tasks;
    tasks.assign(static_cast<std::size_t>(n), COMMTASK_NULL);
    const commtask_op nothing = commtask_op_noop(MPI_COMM_SELF);
    for (commtask_t& task : tasks) {
        post(nothing, &task);
    }
    wait_for_all(tasks);
}

void messages_by_tasks(int n) {
    static std::vector<message> places(n_per_sample);
    static std::vector<commtask_t> tasks;
    tasks.assign(2 * static_cast<std::size_t>(n), COMMTASK_NULL);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        post(recv_of(places[i], tag_used), &tasks[2 * i]);
        post(send_of(places[i], tag_used), &tasks[(2 * i) + 1]);
    }
    wait_for_all(tasks);
}

void messages_by_mpi(int n) {
    static std::vector<message> places(n_per_sample);
    static std::vector<MPI_Request> requests;
    requests.resize(2 * static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        MPI_Irecv(places[i].received.data(), 8, MPI_BYTE, 0, tag_used, MPI_COMM_SELF, &requests[2 * i]);
        MPI_Isend(places[i].sent.data(), 8, MPI_BYTE, 0, tag_used, MPI_COMM_SELF, &requests[(2 * i) + 1]);
    }
    MPI_Waitall(2 * n, requests.data(), MPI_STATUSES_IGNORE);
}

void report_rates(report& out, const options& given) {
    const std::array windows{1, 8, 64, 512, 4096};
    std::vector<side> sides;
    for (const int n : windows) {
        const std::string outstanding = ", " + std::to_string(n) + " outstanding";
        sides.push_back(
            {.name = "messages by MPI alone" + outstanding, .unit = "M/s", .measure = [n](round_samples& samples) {
                 let_the_worker_sleep();
                 sample_rate(n, samples, messages_by_mpi);
             }});
        sides.push_back({.name = "messages by tasks" + outstanding,
                         .unit = "M/s",
                         .measure = [n](round_samples& samples) { sample_rate(n, samples, messages_by_tasks); }});
        sides.push_back({.name = "empty tasks" + outstanding, .unit = "M/s", .measure = [n](round_samples& samples) {
                             sample_rate(n, samples, empty_tasks);
                         }});
    }
    const std::vector<series> all = alternate(sides, given.rounds(40));
    for (std::size_t i = 0; i < all.size(); i += 3) {
        out.add(all[i]);
        out.add(all[i + 1], all[i]);
        out.add(all[i + 2]);
    }
}

void ask(session& here, const options& given) {
    report out("rate", "one rank", here.machine());
    report_rates(out, given);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) { return run_benchmark(argc, argv, "Tasks and messages per second.", ask); }
