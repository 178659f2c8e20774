// SPDX-License-Identifier: Apache-2.0
//
// The counters behind COMMTASK_STATS=1. One thread at a time writes a lane's counters, so an update
// is a plain addition. Submitters and waiting threads add times with relaxed atomics. All counters
// are unsigned 64-bit words, so that ranks can exchange them without conversion.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace commtask::detail {

/// An upper bound for the kinds of operations; the index is the kind's number in the table of
/// operations.
inline constexpr std::size_t stats_kind_count = 128;

/// A distribution of times: count, sum, maximum, and a count for each power of two.
struct time_distribution {
    /// Bin b > 0 has [2^(b-1), 2^b) ns; the last bin has all longer times.
    static constexpr std::size_t bin_count = 48;

    std::uint64_t count = 0;
    std::uint64_t sum_ns = 0;
    std::uint64_t longest_ns = 0;
    std::array<std::uint64_t, bin_count> bins{};

    [[nodiscard]] static constexpr std::size_t bin_of(std::uint64_t time_ns) {
        return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(time_ns)), bin_count - 1);
    }

    /// Costs about 1 ns: four additions to two or three lines that the caller owns.
    void add(std::uint64_t time_ns) {
        ++count;
        sum_ns += time_ns;
        longest_ns = std::max(longest_ns, time_ns);
        ++bins[bin_of(time_ns)];
    }

    void merge(const time_distribution& other);

    [[nodiscard]] double mean_ns() const {
        return count == 0 ? 0.0 : static_cast<double>(sum_ns) / static_cast<double>(count);
    }

    /// A time that the given share of all times does not exceed: exact up to a factor of two, and
    /// at most the longest time. 0 if there are no times.
    [[nodiscard]] std::uint64_t approx_quantile_ns(double share) const;
};

/// The counters of one lane, or of several added up.
struct lane_stats {
    /// Ended tasks by kind, including failed and canceled tasks.
    std::array<std::uint64_t, stats_kind_count> tasks{};
    /// Bytes of these tasks by kind, as posted.
    std::array<std::uint64_t, stats_kind_count> bytes{};
    std::uint64_t failed = 0;
    std::uint64_t canceled = 0;
    time_distribution post;        ///< The duration of the post, on the submitter.
    time_distribution queue_delay; ///< The time from the post until the task is accepted.
    time_distribution in_flight;   ///< The time from the start to MPI's completion.
    /// The time from MPI's completion until the waiting thread continues.
    time_distribution unblock;
    /// The worker's time in progress calls that moved something.
    std::uint64_t worker_busy_ns = 0;
    std::uint64_t worker_life_ns = 0;     ///< The worker's time from start to end.
    std::uint64_t worker_used_ns = 0;     ///< The worker's time on the processor.
    std::uint64_t worker_timed_waits = 0; ///< Timed waits with something in flight.
    std::uint64_t worker_rung = 0;        ///< Timed waits that another rank's doorbell ended.
    /// Doorbells of other ranks that this lane has rung and whose workers woke.
    std::uint64_t rang = 0;
    std::uint64_t worker_sleeps = 0; ///< How often the worker blocked because there was no work.

    void merge(const lane_stats& other);
};

static_assert(std::is_trivially_copyable_v<lane_stats> && std::is_standard_layout_v<lane_stats>);
static_assert(sizeof(lane_stats) % sizeof(std::uint64_t) == 0);

/// The number of words that ranks exchange.
inline constexpr std::size_t lane_stats_words = sizeof(lane_stats) / sizeof(std::uint64_t);

/// A distribution to which any thread may add while others read it. In a snapshot, counts may be
/// ahead of sums.
class shared_time_distribution {
public:
    /// relaxed: the final values are read after the threads were joined; a snapshot may miss the
    /// latest additions.
    void add(std::uint64_t time_ns) {
        count_.fetch_add(1, std::memory_order_relaxed);
        sum_ns_.fetch_add(time_ns, std::memory_order_relaxed);
        bins_[time_distribution::bin_of(time_ns)].fetch_add(1, std::memory_order_relaxed);
        std::uint64_t longest = longest_ns_.load(std::memory_order_relaxed);
        while (longest < time_ns && !longest_ns_.compare_exchange_weak(longest, time_ns, std::memory_order_relaxed)) {}
    }

    [[nodiscard]] time_distribution snapshot() const;

private:
    std::atomic<std::uint64_t> count_{0};
    std::atomic<std::uint64_t> sum_ns_{0};
    std::atomic<std::uint64_t> longest_ns_{0};
    std::array<std::atomic<std::uint64_t>, time_distribution::bin_count> bins_{};
};

} // namespace commtask::detail
