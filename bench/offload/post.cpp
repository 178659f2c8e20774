// SPDX-License-Identifier: Apache-2.0
//
// The time of the calls that start something, without that of what they start. Both ranks start at the same moment,
// and the partner's receive is there before the send, so that a rendezvous could be answered at once.
#include <mpi.h>

#include <cstddef>

#include "harness/clock.h"
#include "offload/questions.h"

namespace commtask::bench::offload {

namespace {

constexpr int n_warm_up = 5;

/// One thing whose start is timed; the other steps are whatever it needs to come to an end.
struct subject {
    std::function<void()> prepare = [] {};
    std::function<void(MPI_Request&)> start;
    std::function<void()> help = [] {};
    std::function<void()> finish = [] {};
};

std::vector<double> time_of(int n_samples, const subject& what) {
    std::vector<double> samples;
    for (int turn = -n_warm_up; turn < n_samples; ++turn) {
        MPI_Request request = MPI_REQUEST_NULL;
        what.prepare();
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t begin = ticks();
        what.start(request);
        const std::uint64_t end = ticks();
        what.help();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        what.finish();
        if (turn >= 0) {
            samples.push_back(ns_between(begin, end));
        }
    }
    return samples;
}

void messages(const place& here, int size, int n_samples, answers& out) {
    const auto n = static_cast<std::size_t>(size);
    std::vector<char> sent(n);
    std::vector<char> received(n);
    MPI_Request other = MPI_REQUEST_NULL;
    const std::string bytes = " of " + std::to_string(size) + " B";
    const auto send = [&](MPI_Request& it) {
        MPI_Isend(sent.data(), size, MPI_BYTE, here.partner, 1, MPI_COMM_WORLD, &it);
    };
    const auto receive = [&](MPI_Request& it) {
        MPI_Irecv(received.data(), size, MPI_BYTE, here.partner, 1, MPI_COMM_WORLD, &it);
    };
    const auto wait = [&] { MPI_Wait(&other, MPI_STATUS_IGNORE); };
    out.add("Isend" + bytes, "ns",
            time_of(n_samples, {.prepare = [&] { receive(other); }, .start = send, .finish = wait}));
    out.add("Irecv" + bytes, "ns",
            time_of(n_samples, {.start = receive, .help = [&] { send(other); }, .finish = wait}));
}

void collectives(int size, int n_samples, answers& out) {
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int n = size / static_cast<int>(sizeof(double));
    const auto n_all = static_cast<std::size_t>(n) * static_cast<std::size_t>(n_ranks);
    std::vector<double> in(n_all, 1);
    std::vector<double> result(n_all);
    const std::string bytes = " of " + std::to_string(size) + " B";
    const auto broadcast = [&](MPI_Request& it) { MPI_Ibcast(in.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD, &it); };
    const auto sum = [&](MPI_Request& it) {
        MPI_Iallreduce(in.data(), result.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &it);
    };
    const auto exchange = [&](MPI_Request& it) {
        MPI_Ialltoall(in.data(), n, MPI_DOUBLE, result.data(), n, MPI_DOUBLE, MPI_COMM_WORLD, &it);
    };
    out.add("Ibcast" + bytes, "ns", time_of(n_samples, {.start = broadcast}));
    out.add("Iallreduce" + bytes, "ns", time_of(n_samples, {.start = sum}));
    out.add("Ialltoall" + bytes, "ns", time_of(n_samples, {.start = exchange}));
}

} // namespace

void ask_post(const place& here, int most_samples, answers& out) {
    std::vector<int> sizes = sizes_in_bytes(1 << 10, 4 << 20, 8);
    sizes.insert(sizes.begin(), 8);
    for (const int size : sizes) {
        messages(here, size, n_samples_of(size, most_samples), out);
        collectives(size, n_samples_of(size, most_samples), out);
    }
}

} // namespace commtask::bench::offload
