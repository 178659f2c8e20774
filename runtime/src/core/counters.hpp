// SPDX-License-Identifier: Apache-2.0
//
// What COMMTASK_STATS=1 measures. A lane's counters are written by its worker alone, so an update is a plain addition;
// what submitters and waiters measure goes through relaxed atomics. Everything is unsigned 64-bit words, so that ranks can
// send each other their counters as they are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace commtask::detail {

/// Room for every kind of operation; a kind is its index in the table of operations.
inline constexpr std::size_t stats_kind_count = 128;

/// Times in nanoseconds: how many, how long together, the longest, and how many per power of two.
struct time_distribution {
    static constexpr std::size_t bin_count = 48; ///< Bin b > 0 holds [2^(b-1), 2^b) ns; the last holds all above.

    std::uint64_t count = 0;
    std::uint64_t sum_ns = 0;
    std::uint64_t longest_ns = 0;
    std::array<std::uint64_t, bin_count> bins{};

    [[nodiscard]] static constexpr std::size_t bin_of(std::uint64_t time_ns) {
        return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(time_ns)), bin_count - 1);
    }

    /// About a nanosecond: four additions into two or three lines that the caller owns.
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

    /// A time that the given share of all times does not exceed: right up to a factor of two, and never above the
    /// longest. 0 if there are none.
    [[nodiscard]] std::uint64_t approx_quantile_ns(double share) const;
};

/// The counters of one lane, or of several added up.
struct lane_stats {
    std::array<std::uint64_t, stats_kind_count>
        tasks{}; ///< Completed tasks by kind, failed and canceled ones included.
    std::array<std::uint64_t, stats_kind_count> bytes{}; ///< Payload of these tasks by kind, as posted.
    std::uint64_t failed = 0;
    std::uint64_t canceled = 0;
    time_distribution post;               ///< In the post call, on the posting thread.
    time_distribution queue_delay;        ///< From the post to the worker taking the task over.
    time_distribution in_flight;          ///< From issue to MPI's completion.
    time_distribution unblock;            ///< From MPI's completion to the first instruction of who waited for it.
    std::uint64_t worker_busy_ns = 0;     ///< The worker's time in passes that moved something.
    std::uint64_t worker_life_ns = 0;     ///< The worker's time from start to end.
    std::uint64_t worker_used_ns = 0;     ///< The worker's time on the processor.
    std::uint64_t worker_timed_waits = 0; ///< Timed waits with something in flight.
    std::uint64_t worker_rung = 0;        ///< Of these, those that another rank of the node ended.
    std::uint64_t rang = 0;               ///< Workers of the node's other ranks that this lane has woken.
    std::uint64_t worker_sleeps = 0;      ///< How often it slept for want of work.

    void merge(const lane_stats& other);
};

static_assert(std::is_trivially_copyable_v<lane_stats> && std::is_standard_layout_v<lane_stats>);
static_assert(sizeof(lane_stats) % sizeof(std::uint64_t) == 0);

/// The counters as the words that ranks exchange.
inline constexpr std::size_t lane_stats_words = sizeof(lane_stats) / sizeof(std::uint64_t);

/// A distribution that any thread may add to, while any other reads it. Counts may be ahead of sums in a snapshot.
class shared_time_distribution {
public:
    /// Relaxed throughout: the numbers are read after the threads that added to them were joined or, in a snapshot
    /// taken before, may miss the latest addition.
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
