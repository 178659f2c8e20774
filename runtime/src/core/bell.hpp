// SPDX-License-Identifier: Apache-2.0
//
// How a sleeping worker is woken. A poster must not pay for a barrier on every post, so the worker pays: before a deep
// sleep it makes all threads of the process pass a barrier (membarrier) and looks once more. Ringing a bell at which
// nobody sleeps is one load of a line that changes only when the worker falls asleep.
//
// A worker with something in flight may sleep in sight of the other processes of its node: on a word in memory that they
// share, which they change and wake. Threads of its own process find it by the same line as ever (docs/node.md).
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
        if (asleep_.load(std::memory_order_relaxed) != awake) wake_unless_parked();
    }

    /// Any thread: like ring(), for rare causes; needs no partner. Wakes a parked worker too.
    void ring_surely() noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        wake();
    }

    /// Any thread that leaves work behind: wakes a deep sleeper, or one in sight that cannot be rung for that work, but not one that naps
    /// or is parked.
    void ring_unless_it_naps() noexcept { ring_from(in_sight); }

    /// Any thread that goes on itself: wakes a sleeper that would not look by itself.
    void ring_if_deep() noexcept { ring_from(deep); }

    /// Approximately: whether ringing would have to wake somebody, which costs as much as many posts.
    [[nodiscard]] bool approx_is_asleep() const noexcept { return asleep_.load(std::memory_order_relaxed) != awake; }

    /// Approximately: whether the sleeper is in sight of other processes, and wakes by itself after a while.
    [[nodiscard]] bool approx_is_in_sight() const noexcept {
        return asleep_.load(std::memory_order_relaxed) == in_sight;
    }

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
    /// @return whether it was rung, or found work before it slept
    template <typename FoundWork>
    bool nap(std::int64_t timeout_ns, FoundWork&& found_work) noexcept { // NOLINT(modernize-use-nodiscard)
        begin_naps();
        const bool must_look = nap_on(timeout_ns, found_work);
        end_naps();
        return must_look;
    }
    /// The same nap after nap: who rings between two of them is not missed.
    void begin_naps() noexcept { asleep_.store(napping, std::memory_order_seq_cst); }
    template <typename FoundWork>
    [[nodiscard]] bool nap_on(std::int64_t timeout_ns, FoundWork&& found_work) noexcept {
        const bool has_work = found_work();
        if (!has_work) sleep_while_equal(asleep_, napping, timeout_ns);
        // acquire: partner of the exchange in wake(); what the ringer has stored is seen.
        return asleep_.load(std::memory_order_acquire) == awake || has_work;
    }
    void end_naps() noexcept { asleep_.store(awake, std::memory_order_relaxed); }

    /// The sleeper only, while the program wants its core: ring() and the next two leave it alone, so the pause must have a
    /// bound, or there must be nothing to find after it.
    template <typename MustGoOn>
    void park(std::int64_t timeout_ns, MustGoOn&& must_go_on) noexcept {
        asleep_.store(parked, std::memory_order_seq_cst);
        if (!must_go_on()) sleep_while_equal(asleep_, parked, timeout_ns);
        asleep_.store(awake, std::memory_order_relaxed);
    }

    /// What ended a sleep in sight.
    enum class woken : std::uint8_t {
        by_nobody,   ///< It found work before it slept, or its time was over.
        by_a_thread, ///< Of this process.
        by_neighbor, ///< Another process of the node.
    };

    /// The sleeper only. Like sleep(), on `word`, which other processes have in sight. Who changes it from `asleep_in_sight` to 0
    /// wakes it by wake_sleepers_shared().
    template <typename FoundWork>
    woken sleep_in_sight(std::atomic<std::uint32_t>& word, std::int64_t timeout_ns, FoundWork&& found_work) noexcept {
        word_in_sight_.store(&word, std::memory_order_relaxed); // published by the next but one
        word.store(asleep_in_sight, std::memory_order_seq_cst);
        asleep_.store(timeout_ns < 0 ? deep_in_sight : in_sight, std::memory_order_seq_cst);
        barrier_against_light(has_heavy_barrier_);
        // Partner of the fence of a neighbour that has issued a message: it sees the word, or the look below sees the message.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const bool has_work = found_work();
        if (!has_work) sleep_while_equal_shared(word, asleep_in_sight, timeout_ns);
        const bool was_changed = word.exchange(awake, std::memory_order_seq_cst) == awake;
        const bool was_local = asleep_.exchange(awake, std::memory_order_seq_cst) == awake;
        if (has_work || !was_changed) return woken::by_nobody;
        return was_local ? woken::by_a_thread : woken::by_neighbor;
    }

    /// In a word that other processes see.
    static constexpr std::uint32_t asleep_in_sight = 1;

    /// Any thread of this process: from now on no other process wakes who sleeps on the word. Without effect if nobody does.
    static void hide(std::atomic<std::uint32_t>& word) noexcept {
        std::uint32_t expected = asleep_in_sight;
        if (word.load(std::memory_order_relaxed) != expected) return;
        word.compare_exchange_strong(expected, hidden,
                                     std::memory_order_relaxed); // who rang meanwhile wakes it all the same
    }

    /// Any thread of this process, once what is awaited is in the sleeper's line, and before it looks itself: who sleeps on the word can
    /// be woken by other processes, also if it was hidden. @return false if nobody sleeps there
    [[nodiscard]] static bool show(std::atomic<std::uint32_t>& word) noexcept {
        std::uint32_t expected = hidden;
        word.compare_exchange_strong(expected, asleep_in_sight, std::memory_order_seq_cst);
        // Partner of the fence of a neighbour that has issued a message, as in sleep_in_sight().
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return word.load(std::memory_order_seq_cst) == asleep_in_sight;
    }

private:
    static constexpr std::uint32_t awake = 0;
    static constexpr std::uint32_t napping = 1;       ///< For a bounded time.
    static constexpr std::uint32_t parked = 2;        ///< While the program has paused the workers.
    static constexpr std::uint32_t in_sight = 3;      ///< For a time, on a word that other processes may ring too.
    static constexpr std::uint32_t deep = 4;          ///< Until somebody rings.
    static constexpr std::uint32_t deep_in_sight = 5; ///< The same, on such a word.
    static constexpr std::uint32_t hidden = 2;        ///< Of that word: who slept may sleep on.

    void ring_from(std::uint32_t least) noexcept {
        light_barrier(has_heavy_barrier_);
        // relaxed: partner of the heavy barrier in sleep(), as in ring().
        if (asleep_.load(std::memory_order_relaxed) >= least) wake();
    }

    void wake_unless_parked() noexcept {
        // relaxed: who parks looks again after a while.
        if (asleep_.load(std::memory_order_relaxed) != parked) wake();
    }

    void wake() noexcept {
        const std::uint32_t before = asleep_.exchange(awake, std::memory_order_seq_cst);
        if (before == in_sight || before == deep_in_sight) {
            std::atomic<std::uint32_t>& word = *word_in_sight_.load(std::memory_order_relaxed);
            word.store(awake, std::memory_order_seq_cst);
            wake_sleepers_shared(word);
        } else if (before != awake) {
            wake_sleepers(asleep_);
        }
    }

    alignas(cache_line_bytes) std::atomic<std::uint32_t> asleep_{awake};
    std::atomic<std::atomic<std::uint32_t>*> word_in_sight_{nullptr};
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
