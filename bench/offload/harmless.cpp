// SPDX-License-Identifier: Apache-2.0
//
// Programs that a worker cannot make faster: one that makes progress itself, with many open persistent receives and a call
// of MPI_Iprobe between short stretches of computing, as a code with blocks of a mesh does, and one that has blocking calls
// only. A sample is the mean of a batch of steps. Beside each time: the processor time of all other threads of the process.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

#include "harness/clock.h"
#include "offload/questions.h"

namespace commtask::bench::offload {

namespace {

constexpr int n_receives = 200;
constexpr int n_bytes = 4096;
constexpr int n_steps = 200; ///< Of a batch: each receive once.

/// About 25 µs of multiplications that depend on each other.
void compute() {
    [[maybe_unused]] static volatile double sink = 0;
    double value = 1;
    for (int i = 0; i < 25'000; ++i) value = value * 1.0000001 + 1e-9;
    sink = value;
}

[[nodiscard]] double cpu_ns(clockid_t of) {
    timespec time{};
    clock_gettime(of, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

[[nodiscard]] double other_threads_ns() { return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID); }

/// Runs batches of steps and adds a time and a share of a core.
template <typename Step>
void measure(const std::string& name, int n_batches, answers& out, Step&& step) {
    std::vector<double> step_us;
    std::vector<double> others_percent;
    for (int batch = -1; batch < n_batches; ++batch) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double others_ns = other_threads_ns();
        const std::uint64_t begin = ticks();
        for (int i = 0; i < n_steps; ++i) step(i);
        const double took_ns = ns_between(begin, ticks());
        if (batch < 0) continue;
        step_us.push_back(took_ns * 1e-3 / n_steps);
        others_percent.push_back(100 * (other_threads_ns() - others_ns) / took_ns);
    }
    out.add(name, "us", step_us);
    out.add("other threads, " + name, "%", others_percent);
}

void persistent_receives(const place& here, int n_batches, answers& out) {
    std::vector<std::array<char, n_bytes>> received(n_receives);
    std::array<char, n_bytes> sent{};
    std::vector<MPI_Request> requests(n_receives);
    for (int i = 0; i < n_receives; ++i) {
        MPI_Recv_init(received[static_cast<std::size_t>(i)].data(), n_bytes, MPI_BYTE, here.partner, i, MPI_COMM_WORLD,
                      &requests[static_cast<std::size_t>(i)]);
    }
    MPI_Startall(n_receives, requests.data());
    measure("step with " + std::to_string(n_receives) + " open receives", n_batches, out, [&](int i) {
        MPI_Request& arrival = requests[static_cast<std::size_t>(i % n_receives)];
        MPI_Request departure = MPI_REQUEST_NULL;
        MPI_Isend(sent.data(), n_bytes, MPI_BYTE, here.partner, i % n_receives, MPI_COMM_WORLD, &departure);
        for (int block = 0; block < 4; ++block) {
            int is_there = 0;
            compute();
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        }
        for (int has_come = 0; has_come == 0;) MPI_Test(&arrival, &has_come, MPI_STATUS_IGNORE);
        MPI_Wait(&departure, MPI_STATUS_IGNORE);
        MPI_Start(&arrival);
    });
    for (MPI_Request& each : requests) {
        MPI_Cancel(&each);
        MPI_Wait(&each, MPI_STATUS_IGNORE);
        MPI_Request_free(&each);
    }
}

void blocking_calls(const place& here, int n_batches, answers& out) {
    std::array<char, n_bytes> sent{};
    std::array<char, n_bytes> received{};
    measure("step of blocking calls", n_batches, out, [&](int) {
        for (int block = 0; block < 4; ++block) compute();
        MPI_Sendrecv(sent.data(), n_bytes, MPI_BYTE, here.partner, 1, received.data(), n_bytes, MPI_BYTE, here.partner,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
}

} // namespace

void ask_harmless(const place& here, int most_samples, answers& out) {
    const int n_batches = std::max(1, most_samples / 20);
    persistent_receives(here, n_batches, out);
    blocking_calls(here, n_batches, out);
}

} // namespace commtask::bench::offload
