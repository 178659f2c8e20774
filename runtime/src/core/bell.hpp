// SPDX-License-Identifier: Apache-2.0
//
// How a sleeping worker is woken. A poster must not pay for a barrier on every post, so the worker pays: before a deep
// sleep it makes all threads of the process pass a barrier (membarrier) and looks once more. Ringing a bell at which
// nobody sleeps is one load of a line that changes only when the worker falls asleep.
#pragma once

#include "base/system.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::detail {

class bell {
public:
    /// `has_heavy_barrier`: what register_heavy_barrier() said.
    explicit bell(bool has_heavy_barrier) noexcept : has_heavy_barrier_(has_heavy_barrier) {}

    /// Any thread, after it has stored what the sleeper should find.
    void ring() noexcept {
        light_barrier(has_heavy_barrier_);
        // relaxed: partner of the heavy barrier in sleep(); either this load sees the sleeper, or the sleeper sees the store
        // that came before.
        if (asleep_.load(std::memory_order_relaxed) != awake) wake();
    }

    /// Any thread: like ring(), for rare causes; needs no partner.
    void ring_surely() noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        wake();
    }

    /// Any thread that leaves work behind: wakes a deep sleeper, but not one that naps.
    void ring_if_deep() noexcept {
        light_barrier(has_heavy_barrier_);
        // relaxed: partner of the heavy barrier in sleep(), as in ring().
        if (asleep_.load(std::memory_order_relaxed) == deep) wake();
    }

    /// Approximately: whether ringing would have to wake somebody, which costs as much as many posts.
    [[nodiscard]] bool approx_is_asleep() const noexcept { return asleep_.load(std::memory_order_relaxed) != awake; }

    /// The sleeper only. `found_work()` is asked after everyone can see that the sleeper is about to sleep.
    /// @param timeout_ns negative: until somebody rings.
    template <typename FoundWork>
    void sleep(std::int64_t timeout_ns, FoundWork&& found_work) noexcept {
        asleep_.store(deep, std::memory_order_seq_cst);
        barrier_against_light(has_heavy_barrier_);
        if (!found_work()) sleep_while_equal(asleep_, deep, timeout_ns);
        asleep_.store(awake, std::memory_order_relaxed);
    }

    /// The sleeper only. Like sleep(), without the barrier: a ring may be missed, so the pause must be short.
    template <typename FoundWork>
    void nap(std::int64_t timeout_ns, FoundWork&& found_work) noexcept {
        asleep_.store(napping, std::memory_order_seq_cst);
        if (!found_work()) sleep_while_equal(asleep_, napping, timeout_ns);
        asleep_.store(awake, std::memory_order_relaxed);
    }

private:
    static constexpr std::uint32_t awake = 0;
    static constexpr std::uint32_t napping = 1; ///< For a bounded time.
    static constexpr std::uint32_t deep = 2;    ///< Until somebody rings.

    void wake() noexcept {
        if (asleep_.exchange(awake, std::memory_order_seq_cst) != awake) wake_sleepers(asleep_);
    }

    alignas(cache_line_bytes) std::atomic<std::uint32_t> asleep_{awake};
    const bool has_heavy_barrier_;
};

/// Where threads that wait for tasks sleep. The worker announces once per pass that ended something; they look again.
class waiting_room {
public:
    explicit waiting_room(bool has_heavy_barrier) noexcept : has_heavy_barrier_(has_heavy_barrier) {}

    /// The worker, after it has stored final states. One load where nobody waits.
    void announce() noexcept {
        light_barrier(has_heavy_barrier_);
        // relaxed: partner of the barrier in wait(); either this sees the waiter or the waiter sees the state.
        if (n_waiting_.load(std::memory_order_relaxed) == 0) return;
        round_.fetch_add(1, std::memory_order_seq_cst);
        wake_sleepers(round_);
    }

    /// Any thread but the worker. Returns when announced, at the timeout, or at once if `is_done()`.
    template <typename IsDone>
    void wait(std::int64_t timeout_ns, IsDone&& is_done) noexcept {
        n_waiting_.fetch_add(1, std::memory_order_seq_cst);
        const std::uint32_t round = round_.load(std::memory_order_seq_cst);
        barrier_against_light(has_heavy_barrier_);
        if (!is_done()) sleep_while_equal(round_, round, timeout_ns);
        n_waiting_.fetch_sub(1, std::memory_order_relaxed);
    }

private:
    alignas(cache_line_bytes) std::atomic<std::uint32_t> n_waiting_{0};
    alignas(cache_line_bytes) std::atomic<std::uint32_t> round_{0};
    const bool has_heavy_barrier_;
};

} // namespace commtask::detail
