// SPDX-License-Identifier: Apache-2.0
//
// Blocking round trips, where a worker can only cost. A sample is the mean of a batch.
// One thread makes them, which is how most programs are written.
#include <mpi.h>

#include <array>
#include <cstddef>

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

} // namespace commtask::bench::offload
