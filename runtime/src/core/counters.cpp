// SPDX-License-Identifier: Apache-2.0
//
// Sums up counters. Not on the path of a task; the functions on that path are in the header.
#include "core/counters.hpp"

namespace commtask::detail {

void time_distribution::merge(const time_distribution& other) {
    count += other.count;
    sum_ns += other.sum_ns;
    longest_ns = std::max(longest_ns, other.longest_ns);
    for (std::size_t bin = 0; bin < bin_count; ++bin) bins[bin] += other.bins[bin];
}

std::uint64_t time_distribution::approx_quantile_ns(double share) const {
    std::uint64_t below = 0;
    for (std::size_t bin = 0; bin < bin_count; ++bin) {
        below += bins[bin];
        if (below == 0 || static_cast<double>(below) < share * static_cast<double>(count)) continue;
        return bin + 1 == bin_count ? longest_ns : std::min(longest_ns, (std::uint64_t{1} << bin) - 1);
    }
    return longest_ns;
}

void lane_stats::merge(const lane_stats& other) {
    for (std::size_t kind = 0; kind < stats_kind_count; ++kind) {
        tasks[kind] += other.tasks[kind];
        bytes[kind] += other.bytes[kind];
    }
    failed += other.failed;
    canceled += other.canceled;
    post.merge(other.post);
    queue_delay.merge(other.queue_delay);
    in_flight.merge(other.in_flight);
    unblock.merge(other.unblock);
    worker_busy_ns += other.worker_busy_ns;
    worker_life_ns += other.worker_life_ns;
    worker_used_ns += other.worker_used_ns;
    worker_timed_waits += other.worker_timed_waits;
    worker_rung += other.worker_rung;
    rang += other.rang;
    worker_sleeps += other.worker_sleeps;
}

time_distribution shared_time_distribution::snapshot() const {
    time_distribution copy;
    copy.count = count_.load(std::memory_order_relaxed); // relaxed: has no partner, see add().
    copy.sum_ns = sum_ns_.load(std::memory_order_relaxed);
    copy.longest_ns = longest_ns_.load(std::memory_order_relaxed);
    for (std::size_t bin = 0; bin < copy.bins.size(); ++bin)
        copy.bins[bin] = bins_[bin].load(std::memory_order_relaxed);
    return copy;
}

} // namespace commtask::detail
