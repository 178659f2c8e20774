// SPDX-License-Identifier: Apache-2.0
//
// How a worker waits and is woken. A post must not pay for a memory barrier, so the worker pays.
// Before a long wait it makes all threads of the process execute a barrier (membarrier), and checks
// for work once more. A post loads one line, which changes only when the worker begins or ends a
// wait. If the ranks of a node have doorbells, that line is in shared memory
// (doorbell/doorbells.hpp).
#pragma once

#include "base/system.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::detail {

/// The value of the word that a worker waits on.
enum class worker_state : std::uint32_t {
    awake,
    rung,    ///< Woken by another rank of the node, and not running yet.
    paused,  ///< Paused by the program.
    waiting, ///< In a short wait, after which the worker polls by itself.
    armed,   ///< In a longer wait: other ranks' doorbells announce every operation in flight.
    blocked, ///< In a wait without limit, until a thread or another rank wakes the worker.
};

class wakeup {
public:
    /// @param has_heavy_barrier  the result of register_heavy_barrier()
    /// @param shared  a word in memory that processes share, or null for a word of this object
    explicit wakeup(bool has_heavy_barrier, std::atomic<std::uint32_t>* shared = nullptr) noexcept
        : word_(shared == nullptr ? &own_ : shared), has_heavy_barrier_(has_heavy_barrier) {}

    /// Any thread, after it has stored the data that the worker should find.
    void wake() noexcept { wake_from(worker_state::waiting); }
    /// As wake(), but leaves a worker in a short wait alone.
    void wake_from_long_wait() noexcept { wake_from(worker_state::armed); }
    /// Any thread. For rare events: has a full barrier, and also wakes a paused worker.
    void wake_unconditionally() noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        wake_now();
    }

    /// Approximate: whether the worker waits in any state.
    [[nodiscard]] bool approx_waits() const noexcept {
        const std::uint32_t now = word_->load(std::memory_order_relaxed);
        return now != of(worker_state::awake) && now != of(worker_state::rung);
    }

    /// The worker. Waits in the state `how`, unless `found_work()` returns true; it is called when
    /// other threads can see that the worker is about to wait. A short wait has no barrier, and may
    /// miss a wake-up.
    /// @param timeout_ns  negative: without limit
    /// @return `rung` if another rank has woken the worker, `awake` if a thread of this process
    /// has, otherwise `how`
    template <typename FoundWork>
    worker_state wait(worker_state how, std::int64_t timeout_ns,
                      FoundWork&& found_work) noexcept { // NOLINT(modernize-use-nodiscard)
        word_->store(of(how), std::memory_order_seq_cst);
        if (how >= worker_state::armed) barrier_against_light(has_heavy_barrier_);
        // seq_cst: partner of the fence in doorbells::ring(). The ringing rank sees the word, or
        // the check below sees its message.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!found_work()) sleep(how, timeout_ns);
        return static_cast<worker_state>(word_->exchange(of(worker_state::awake), std::memory_order_seq_cst));
    }

    [[nodiscard]] static constexpr std::uint32_t of(worker_state state) noexcept {
        return static_cast<std::uint32_t>(state);
    }

    /// Called in a child process after fork, which has no access to the shared memory.
    void leave_shared_memory() noexcept { word_ = &own_; }

private:
    void wake_from(worker_state least) noexcept {
        light_barrier(has_heavy_barrier_);
        // relaxed: partner of the heavy barrier in wait(). Either this load sees that the worker
        // waits, or the worker sees the data that was stored before.
        if (word_->load(std::memory_order_relaxed) >= of(least)) wake_now();
    }
    void wake_now() noexcept {
        if (word_->exchange(of(worker_state::awake), std::memory_order_seq_cst) == of(worker_state::awake)) return;
        if (word_ == &own_) return wake_sleepers(own_);
        wake_sleepers_shared(*word_);
    }
    void sleep(worker_state how, std::int64_t timeout_ns) noexcept {
        if (word_ == &own_) return sleep_while_equal(own_, of(how), timeout_ns);
        sleep_while_equal_shared(*word_, of(how), timeout_ns);
    }

    alignas(cache_line_bytes) std::atomic<std::uint32_t> own_{0};
    std::atomic<std::uint32_t>* word_;
    const bool has_heavy_barrier_;
};

/// The queue of threads that wait for tasks. A progress thread notifies them once for each progress
/// call that ended a task, and they check their tasks again.
class wait_queue {
public:
    explicit wait_queue(bool has_heavy_barrier) noexcept : has_heavy_barrier_(has_heavy_barrier) {}

    /// The progress thread, after it has stored final states. Costs one load if no thread waits.
    void notify_all() noexcept {
        light_barrier(has_heavy_barrier_);
        // relaxed: partner of the barrier in wait(). Either this load sees the waiting thread, or
        // that thread sees the state.
        if (n_waiting_.load(std::memory_order_relaxed) == 0) return;
        round_.fetch_add(1, std::memory_order_seq_cst);
        wake_sleepers(round_);
    }

    /// Any thread except the worker. Returns after a notification, at the timeout, or at once if
    /// `is_done()`.
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
