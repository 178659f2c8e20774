// SPDX-License-Identifier: Apache-2.0
//
// Blocking round trips, where a worker can only cost: by one thread, which is how most programs are written, and by
// several at once, where the MPI's own lock costs too. A sample is the mean of a batch, and with several threads the
// round trips per thread, so that a perfect machine gives the same figure for any number of them.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <thread>

#include "harness/clock.h"
#include "offload/questions.h"

namespace commtask::bench::offload {

namespace {

void round_trips(const place& here, std::vector<char>& buffer, int tag, int n_trips) {
    const int n = static_cast<int>(buffer.size());
    for (int trip = 0; trip < n_trips; ++trip) {
        if (here.rank == 0) {
            MPI_Send(buffer.data(), n, MPI_BYTE, here.partner, tag, MPI_COMM_WORLD);
            MPI_Recv(buffer.data(), n, MPI_BYTE, here.partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer.data(), n, MPI_BYTE, here.partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer.data(), n, MPI_BYTE, here.partner, tag, MPI_COMM_WORLD);
        }
    }
}

} // namespace

void ask_ping_pong(const place& here, int most_samples, answers& out) {
    constexpr int n_trips = 50;
    for (const int size : sizes_in_bytes(8, 1 << 18, 32)) {
        std::vector<char> buffer(static_cast<std::size_t>(size));
        std::vector<double> samples;
        for (int turn = -2; turn < n_samples_of(size, most_samples); ++turn) {
            MPI_Barrier(MPI_COMM_WORLD);
            const std::uint64_t begin = ticks();
            round_trips(here, buffer, 1, n_trips);
            if (turn >= 0) {
                samples.push_back(ns_between(begin, ticks()) * 1e-3 / n_trips);
            }
        }
        out.add("round trip of " + std::to_string(size) + " B", "us", samples);
    }
}

void ask_threads(const place& here, int most_samples, answers& out) {
    constexpr int n_trips = 20;
    for (const int n_threads : {1, 2, 4, 8}) {
        std::vector<double> samples;
        for (int turn = -1; turn < most_samples / n_threads; ++turn) {
            MPI_Barrier(MPI_COMM_WORLD);
            const std::uint64_t begin = ticks();
            std::vector<std::jthread> threads;
            for (int tag = 0; tag < n_threads; ++tag) {
                threads.emplace_back([&here, tag] {
                    std::vector<char> buffer(8);
                    round_trips(here, buffer, tag, n_trips);
                });
            }
            threads.clear();
            if (turn >= 0) {
                samples.push_back(ns_between(begin, ticks()) * 1e-3 / (n_trips * n_threads));
            }
        }
        out.add("round trip by " + std::to_string(n_threads) + " threads", "us", samples);
    }
}

} // namespace commtask::bench::offload
