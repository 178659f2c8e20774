// SPDX-License-Identifier: Apache-2.0
//
// Proof of the emulated links: what plain MPI sees of them between two ranks. Half the round trip of 8 bytes must be the links'
// delay, and messages of 1 MiB in a stream must flow at their rate. It judges itself by its best sample: a link must never be
// faster than it is set, and on a machine that does other work too it cannot always be as fast.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/clock.h"

namespace {

using namespace commtask::bench;

struct settings {
    int n_trips = 200;
    int n_messages = 40;
    double expect_delay_us = 0;
    double expect_rate_mb_per_s = 0;
    double expect_gap_us = 0; ///< Between messages of one communicator.
    double tolerance_us = 150;
    std::string expect_absence; ///< What comes of messages meanwhile: "comes", "waits", or not judged.
};

std::vector<double> half_round_trip_us(int rank, int n_trips) {
    std::vector<double> samples;
    char payload[8] = {};
    for (int trip = 0; trip < n_trips + 5; ++trip) {
        const std::uint64_t begin = ticks();
        if (rank == 0) {
            MPI_Send(payload, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(payload, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (trip >= 5) {
                samples.push_back(ns_between(begin, ticks()) * 0.5e-3);
            }
        } else {
            MPI_Recv(payload, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(payload, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
    return samples;
}

/// Rank 0 sends `n_messages` of 1 MiB, four at a time, in five turns; the answer to the last of a turn ends its time.
std::vector<double> stream_mb_per_s(int rank, int n_messages) {
    constexpr int size = 1 << 20;
    constexpr int at_once = 4;
    std::vector<double> samples;
    std::vector<char> payload(static_cast<std::size_t>(size) * at_once);
    for (int turn = 0; turn < 6; ++turn) {
        char answer = 0;
        const std::uint64_t begin = ticks();
        for (int sent = 0; sent < n_messages; sent += at_once) {
            MPI_Request requests[at_once];
            for (int i = 0; i < at_once; ++i) {
                char* const place = payload.data() + (static_cast<std::size_t>(i) * size);
                if (rank == 0) {
                    MPI_Isend(place, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
                } else {
                    MPI_Irecv(place, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[i]);
                }
            }
            MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE);
        }
        if (rank == 0) {
            MPI_Recv(&answer, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const double bytes = static_cast<double>(size) * n_messages;
            if (turn > 0) {
                samples.push_back(bytes / ns_between(begin, ticks()) * 1e3);
            }
        } else {
            MPI_Send(&answer, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
        }
    }
    return samples;
}

/// Both ranks send each other 4 MiB by a collective, which must arrive unharmed.
std::vector<double> exchange_mb_per_s(int rank, bool is_blocking) {
    constexpr int size = 4 << 20;
    const int counts[2] = {rank == 0 ? 0 : size, rank == 0 ? size : 0};
    const int offsets[2] = {0, 0};
    std::vector<double> samples;
    for (int turn = 0; turn < 6; ++turn) {
        const std::vector<char> from(size, static_cast<char>(10 * turn + rank));
        std::vector<char> into(size);
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t begin = ticks();
        if (is_blocking) {
            MPI_Alltoallv(from.data(), counts, offsets, MPI_CHAR, into.data(), counts, offsets, MPI_CHAR,
                          MPI_COMM_WORLD);
        } else {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ialltoallv(from.data(), counts, offsets, MPI_CHAR, into.data(), counts, offsets, MPI_CHAR,
                           MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        const double took_ns = ns_between(begin, ticks());
        const bool is_right = into == std::vector<char>(size, static_cast<char>(10 * turn + 1 - rank));
        samples.push_back(is_right ? size / took_ns * 1e3 : -1);
    }
    return samples;
}

/// How long both ranks wait for 1 MiB of each other after they were away for longer than it takes to come.
std::vector<double> wait_after_absence_us(int rank) {
    constexpr int size = 1 << 20;
    constexpr timespec absence{.tv_sec = 0, .tv_nsec = 40'000'000};
    std::vector<double> samples;
    for (int turn = 0; turn < 4; ++turn) {
        const std::vector<char> from(size, static_cast<char>(20 * turn + rank));
        std::vector<char> into(size);
        MPI_Request requests[2];
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(into.data(), size, MPI_CHAR, 1 - rank, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(from.data(), size, MPI_CHAR, 1 - rank, 5, MPI_COMM_WORLD, &requests[1]);
        nanosleep(&absence, nullptr);
        const std::uint64_t begin = ticks();
        MPI_Status status;
        MPI_Wait(&requests[0], &status);
        const double took_ns = ns_between(begin, ticks());
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        int count = 0;
        MPI_Get_count(&status, MPI_CHAR, &count);
        const bool is_right = count == size && status.MPI_SOURCE == 1 - rank && status.MPI_TAG == 5 &&
                              into == std::vector<char>(size, static_cast<char>(20 * turn + 1 - rank));
        samples.push_back(is_right ? took_ns * 1e-3 : -1);
    }
    return samples;
}

/// 1 and a sentence unless messages came while the ranks were away, or, by rendezvous, only when they looked.
int judge_absence(const settings& given, const std::vector<double>& waits) {
    const auto [shortest, longest] = std::ranges::minmax(waits);
    const double transfer_us = (1 << 20) / given.expect_rate_mb_per_s;
    const bool is_as_wanted =
        given.expect_absence == "waits" ? shortest >= 0.99 * transfer_us : shortest < 0.5 * transfer_us;
    if (shortest >= 0 && is_as_wanted) {
        return 0;
    }
    std::printf("a wait for 1 MiB after an absence took %g to %g us, its transfer takes %g; what %s was expected\n",
                shortest, longest, transfer_us, given.expect_absence.c_str());
    return 1;
}

/// A small message and a large one, alike but for that: received in the order in which they were sent, from a known sender
/// and from any.
bool do_messages_keep_their_order(int rank) {
    constexpr int large = 1 << 18;
    constexpr int small = 16;
    std::vector<char> payload(large);
    bool is_kept = true;
    for (const int from : {1 - rank, int{MPI_ANY_SOURCE}}) {
        MPI_Request requests[2];
        MPI_Isend(payload.data(), small, MPI_CHAR, 1 - rank, 6, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(payload.data(), large, MPI_CHAR, 1 - rank, 6, MPI_COMM_WORLD, &requests[1]);
        std::vector<char> into(large);
        for (const int expected : {small, large}) {
            MPI_Status status;
            MPI_Recv(into.data(), large, MPI_CHAR, from, 6, MPI_COMM_WORLD, &status);
            int count = 0;
            MPI_Get_count(&status, MPI_CHAR, &count);
            is_kept = is_kept && count == expected && status.MPI_SOURCE == 1 - rank;
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return is_kept;
}

/// A send whose request is freed at once: legal, and its message must arrive.
bool is_freed_send_received(int rank) {
    int value = 42;
    if (rank == 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(nullptr, 0, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // until then the buffer is MPI's
        return true;
    }
    value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_INT, 0, 4, MPI_COMM_WORLD);
    return value == 42;
}

/// 1 and a sentence if the best sample is not near the expected rate, or one is negative, which says that data was wrong.
int judge_rate(const char* what, double expected, double least_share, const std::vector<double>& rates) {
    const auto [least, fastest] = std::ranges::minmax(rates);
    if (least >= 0 && (expected <= 0 || (fastest >= least_share * expected && fastest <= 1.02 * expected))) {
        return 0;
    }
    std::printf("%s should reach %g to 1.02 of %g MB/s at best, not %g, with the right data\n", what, least_share,
                expected, fastest);
    return 1;
}

/// Judges and prints on rank 0; the number of expectations that failed.
int judge(const settings& given, const std::vector<double>& latencies, const std::vector<double>& rates) {
    nlohmann::ordered_json out;
    out["half_round_trip_us"] = latencies;
    out["stream_mb_per_s"] = rates;
    std::printf("%s\n", out.dump().c_str());
    int n_failed = 0;
    const double delay = given.expect_delay_us;
    const double quickest = *std::ranges::min_element(latencies);
    if (delay > 0 && (quickest < delay || quickest > delay + given.tolerance_us)) {
        std::printf("half a round trip should take %g to %g us at best, not %g\n", delay, delay + given.tolerance_us,
                    quickest);
        ++n_failed;
    }
    double expected = given.expect_rate_mb_per_s;
    if (given.expect_gap_us > 0) {
        expected = static_cast<double>(1 << 20) * given.n_messages / ((given.n_messages - 1) * given.expect_gap_us);
    }
    return n_failed + judge_rate("the stream", expected, 0.5, rates);
}

} // namespace

int main(int argc, char** argv) {
    settings given;
    CLI::App app{"Latency and bandwidth between two ranks."};
    app.add_option("--trips", given.n_trips, "round trips of 8 bytes");
    app.add_option("--messages", given.n_messages, "messages of 1 MiB per measurement of the stream");
    app.add_option("--expect-delay-us", given.expect_delay_us,
                   "fail unless half a round trip takes at least this long");
    app.add_option("--tolerance-us", given.tolerance_us,
                   "with --expect-delay-us: fail if half a round trip takes more than this longer");
    app.add_option("--expect-gap-us", given.expect_gap_us,
                   "fail unless this gap limits the message rate; without --expect-rate-mbs");
    app.add_option("--expect-rate-mbs", given.expect_rate_mb_per_s, "fail unless the stream nearly reaches this rate");
    app.add_option(
           "--expect-absence", given.expect_absence,
           "fail unless a message of 1 MiB arrives while the receiver calls no MPI (comes), or does not (waits); "
           "with --expect-rate-mbs")
        ->check(CLI::IsMember({"comes", "waits"}));
    CLI11_PARSE(app, argc, argv);
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int n_failed = 0;
    if (n_ranks == 2) {
        const std::vector<double> latencies = half_round_trip_us(rank, given.n_trips);
        const std::vector<double> rates = stream_mb_per_s(rank, given.n_messages);
        const std::vector<double> exchanges = exchange_mb_per_s(rank, true);
        const std::vector<double> nonblocking = exchange_mb_per_s(rank, false);
        if (!given.expect_absence.empty()) {
            n_failed += judge_absence(given, wait_after_absence_us(rank));
            n_failed += do_messages_keep_their_order(rank) ? 0 : 1;
        }
        n_failed += is_freed_send_received(rank) ? 0 : 1;
        n_failed += judge_rate("MPI_Alltoallv", given.expect_rate_mb_per_s, 0.3, exchanges);
        n_failed += judge_rate("MPI_Ialltoallv", given.expect_rate_mb_per_s, 0.3, nonblocking);
        if (rank == 0) {
            n_failed += judge(given, latencies, rates);
        }
    } else {
        n_failed = 1;
        if (rank == 0) {
            std::printf("needs 2 ranks\n");
        }
    }
    MPI_Finalize();
    return n_failed == 0 ? 0 : 1;
}
