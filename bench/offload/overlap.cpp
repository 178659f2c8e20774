// SPDX-License-Identifier: Apache-2.0
//
// The overlap of an exchange with computing, as the standard figure defines it. Computing is a timed sleep: it leaves
// the core as if an accelerator computed, so what is seen is progress, not the fight for cores. First the exchange is
// timed alone; then the computing lasts as long as that did, and what post and wait still take was not hidden.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "harness/clock.h"
#include "offload/questions.h"

namespace commtask::bench::offload {

namespace {

struct times {
    double post_ns = 0;
    double wait_ns = 0;
};

times exchange(const place& here, std::vector<char>& sent, std::vector<char>& received, double computing_ns) {
    const int n = static_cast<int>(sent.size());
    std::array<MPI_Request, 2> requests{};
    MPI_Barrier(MPI_COMM_WORLD);
    const std::uint64_t begin = ticks();
    MPI_Irecv(received.data(), n, MPI_BYTE, here.partner, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent.data(), n, MPI_BYTE, here.partner, 1, MPI_COMM_WORLD, &requests[1]);
    const std::uint64_t posted = ticks();
    sleep_for(computing_ns);
    const std::uint64_t computed = ticks();
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    return {.post_ns = ns_between(begin, posted), .wait_ns = ns_between(computed, ticks())};
}

/// The computing shall take as long; no figure of a report.
double middle(std::vector<double> samples) {
    const auto at = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::ranges::nth_element(samples, at);
    return *at;
}

void of_size(const place& here, int size, int n_samples, answers& out) {
    std::vector<char> sent(static_cast<std::size_t>(size));
    std::vector<char> received(sent.size());
    std::vector<double> alone_ns;
    for (int turn = -3; turn < n_samples; ++turn) {
        const times took = exchange(here, sent, received, 0);
        if (turn >= 0) {
            alone_ns.push_back(took.post_ns + took.wait_ns);
        }
    }
    double length_ns = middle(alone_ns);
    MPI_Bcast(&length_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    std::vector<double> percent;
    for (int turn = 0; turn < n_samples; ++turn) {
        const times took = exchange(here, sent, received, length_ns);
        percent.push_back(100 * std::max(0.0, 1 - (took.post_ns + took.wait_ns) / length_ns));
    }
    out.add("overlap of " + std::to_string(size) + " B", "%", percent);
}

} // namespace

void ask_overlap(const place& here, int most_samples, answers& out) {
    for (const int size : sizes_in_bytes(1 << 10, 4 << 20, 8)) {
        of_size(here, size, n_samples_of(size, most_samples), out);
    }
}

} // namespace commtask::bench::offload
