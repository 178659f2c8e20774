// SPDX-License-Identifier: Apache-2.0
//
// Question: what does an exchange expose of a program whose computing leaves the core, where ranks share cores? One rank of each pair
// starts its message and computes, the other comes in the middle of that. By MPI alone, or with --tasks by communication tasks.
// Exposed is what a step takes beyond the computing, on the slowest rank. Rank 0 writes every sample as JSON for bench/node.py.
#include "harness/answers.h"
#include "harness/clock.h"
#include "harness/report.h"

#include <commtask/commtask.h>

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace commtask::bench;

constexpr double computing_us = 6000;

/// Partners are half of the ranks apart.
struct place {
    int rank = 0;
    int n_ranks = 1;
    [[nodiscard]] int partner() const { return (rank + n_ranks / 2) % n_ranks; }
    [[nodiscard]] bool receives() const { return rank < n_ranks / 2; }
};

void compute_elsewhere(double us) { sleep_for(1e3 * us); }

/// Between steps, on every side: an early rank leaves its core to the ranks that are late. MPI's own wait would keep it, and what those
/// ranks expose would be turns of the scheduler.
void wait_aside(MPI_Request request) {
    for (int has_ended = 0;; sched_yield()) {
        MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
        if (has_ended != 0) return;
    }
}

void require(int code, int expected) {
    if (code != expected) MPI_Abort(MPI_COMM_WORLD, 1);
}

/// One message: the early rank computes all the time after its start, the other a half before and a half after. Ends with the wait.
void message(const place& here, std::vector<char>& buffer, bool is_first, bool uses_tasks) {
    const int n = static_cast<int>(buffer.size());
    if (!is_first) compute_elsewhere(computing_us / 2);
    const double after_us = is_first ? computing_us : computing_us / 2;
    if (uses_tasks) {
        const commtask_op op = here.receives()
                                   ? commtask_op_recv(buffer.data(), n, MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD)
                                   : commtask_op_send(buffer.data(), n, MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD);
        commtask_t task = COMMTASK_NULL;
        require(commtask_post_operation(&op, nullptr, &task), COMMTASK_OK);
        compute_elsewhere(after_us);
        require(commtask_wait(&task, nullptr), COMMTASK_OK);
        return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    require(here.receives() ? MPI_Irecv(buffer.data(), n, MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD, &request)
                            : MPI_Isend(buffer.data(), n, MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD, &request),
            MPI_SUCCESS);
    compute_elsewhere(after_us);
    require(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/// Microseconds of the slowest rank's step, beyond the computing, step by step. Between steps the program calls MPI itself: nothing is in
/// flight then, and it asked for MPI_THREAD_MULTIPLE.
std::vector<double> exposed_us(const place& here, bool is_receiver_early, int n_bytes, int n_steps, bool uses_tasks) {
    std::vector<char> buffer(static_cast<std::size_t>(n_bytes));
    std::vector<double> samples;
    for (int step = -std::min(n_steps, 2); step < n_steps; ++step) {
        const auto mark = [&](int rank) { return static_cast<char>(1 + rank + 7 * step); };
        std::memset(buffer.data(), mark(here.rank), buffer.size());
        MPI_Request meeting = MPI_REQUEST_NULL;
        MPI_Ibarrier(MPI_COMM_WORLD, &meeting);
        wait_aside(meeting);
        const double begin = MPI_Wtime();
        message(here, buffer, here.receives() == is_receiver_early, uses_tasks);
        double exposed = (MPI_Wtime() - begin) * 1e6 - computing_us;
        const char expected = mark(here.receives() ? here.partner() : here.rank);
        if (buffer.front() != expected || buffer.back() != expected) {
            std::fprintf(stderr, "bench_node: a message was not what its sender wrote\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Request longest = MPI_REQUEST_NULL;
        MPI_Iallreduce(MPI_IN_PLACE, &exposed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &longest);
        wait_aside(longest);
        if (step >= 0) samples.push_back(exposed);
    }
    return samples;
}

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    const bool uses_tasks = argc > 3 && std::strcmp(argv[3], "--tasks") == 0;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); // the kernel may else sleep 50 us longer
    place here;
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &here.n_ranks);
    if (argc < 3 || here.n_ranks % 2 != 0 || (uses_tasks && commtask_init(nullptr) != COMMTASK_OK)) {
        if (here.rank == 0) {
            std::fprintf(stderr, "bench_node: STEPS FILE [--tasks], with an even number of ranks. %s\n",
                         commtask_last_error());
        }
        MPI_Finalize();
        return 1;
    }
    const int n_steps = std::clamp(std::atoi(argv[1]), 1, 10000);
    answers out;
    for (const bool is_receiver_early : {true, false}) {
        for (const int kib : {64, 4096}) {
            const std::string size = kib < 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib / 1024) + " MiB";
            out.add(std::string("exposed ") + (is_receiver_early ? "receiver" : "sender") + " early, " + size, "us",
                    exposed_us(here, is_receiver_early, kib << 10, n_steps, uses_tasks));
        }
    }
    if (uses_tasks) commtask_finalize();
    const std::string why = here.rank == 0 ? write_document(out.document(), argv[2]) : std::string{};
    if (!why.empty()) std::fprintf(stderr, "bench_node: cannot write %s: %s\n", argv[2], why.c_str());
    MPI_Finalize();
    return why.empty() ? 0 : 1;
}
