// SPDX-License-Identifier: Apache-2.0
//
// Question: what does posting a task cost the thread that posts it? Measured is the time of eight posts in a row, four
// receives and four sends to this rank, divided by eight, with the worker awake and polling on its own core. Describing
// the operation is part of it. Goals: at most a quarter of a cache-line ping-pong, the same for 8 bytes and 4 MiB, and
// neither a system call nor an allocation once warm; the last two are counted in runs of their own.
#include <algorithm>
#include <array>

#include "harness/alternate.h"
#include "harness/calls_made.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"
#include "harness/yardstick.h"

namespace {

using namespace commtask::bench;

constexpr int burst = 8;
constexpr int n_messages = burst / 2;
constexpr std::size_t small_bytes = 8;
constexpr std::size_t large_bytes = std::size_t{4} << 20U;

/// Buffers for one burst: message i goes from send(i) to recv(i).
class buffers {
public:
    explicit buffers(std::size_t size_bytes) : size_bytes_(size_bytes), memory_(burst * size_bytes, 1) {}
    [[nodiscard]] char* send(int i) { return memory_.data() + (static_cast<std::size_t>(i) * size_bytes_); }
    [[nodiscard]] char* recv(int i) { return send(n_messages + i); }
    [[nodiscard]] MPI_Count count() const { return static_cast<MPI_Count>(size_bytes_); }

private:
    std::size_t size_bytes_;
    std::vector<char> memory_;
};

int post_recv(buffers& place, int i, commtask_t* task) {
    const commtask_op op = commtask_op_recv(place.recv(i), place.count(), MPI_BYTE, 0, i, MPI_COMM_SELF);
    return commtask_post_operation(&op, nullptr, task);
}

int post_send(buffers& place, int i, commtask_t* task) {
    const commtask_op op = commtask_op_send(place.send(i), place.count(), MPI_BYTE, 0, i, MPI_COMM_SELF);
    return commtask_post_operation(&op, nullptr, task);
}

/// The eight posts; the least of their results, so that nothing is checked in between.
int post_burst(buffers& place, commtask_t* tasks) {
    int worst = COMMTASK_OK;
    for (int i = 0; i < n_messages; ++i) {
        worst = std::min(worst, post_recv(place, i, &tasks[i]));
    }
    for (int i = 0; i < n_messages; ++i) {
        worst = std::min(worst, post_send(place, i, &tasks[n_messages + i]));
    }
    return worst;
}

void wait_for_burst(commtask_t* tasks) { require(commtask_wait_all(burst, tasks, nullptr), "commtask_wait_all"); }

/// Gives the worker the time to finish what follows a completion and to be watching its queue again.
void pause_2_us() {
    const std::uint64_t begin = ticks();
    while (ns_between(begin, ticks()) < 2000) {}
}

/// One sample per burst. The first two bursts of a round wake the worker and are not counted.
void sample_posts(buffers& place, int n_bursts, round_samples& out) {
    for (int turn = -2; turn < n_bursts; ++turn) {
        std::array<commtask_t, burst> tasks{};
        pause_2_us();
        const std::uint64_t begin = ticks();
        const int worst = post_burst(place, tasks.data());
        const std::uint64_t end = ticks();
        require(worst, "commtask_post");
        if (turn >= 0) {
            out.push_back(ns_between(begin, end) / burst);
        }
        wait_for_burst(tasks.data());
    }
}

void ask(session& here, const options& given) {
    buffers small(small_bytes);
    buffers large(large_bytes);
    yardstick line(here.cores().worker);
    const std::array sides{
        ping_pong_side(line, "ns", 200),
        side{.name = "post 8 B", .unit = "ns", .measure = [&](round_samples& out) { sample_posts(small, 500, out); }},
        side{.name = "post 4 MiB", .unit = "ns", .measure = [&](round_samples& out) { sample_posts(large, 30, out); }}};
    const std::vector<series> all = alternate(sides, given.rounds(60));

    report out("post", "one rank", here.machine());
    out.add(all[0]);
    out.add(all[1], all[0]);
    out.add(all[2], all[0]);
    series same = all[2];
    same.name = "post 4 MiB against 8 B";
    out.add(same, all[1]);

    constexpr int n_bursts = 2000;
    std::array<commtask_t, burst> tasks{};
    const calls_made seen = count_calls(
        here.cores().compute, 100, n_bursts, pause_2_us, [&] { post_burst(small, tasks.data()); },
        [&] { wait_for_burst(tasks.data()); });
    add_calls(out, seen);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What posting a task costs the thread that posts it.", ask);
}
