// SPDX-License-Identifier: Apache-2.0
//
// The thread of a lane. A reserved worker keeps the progress lock and polls on its own core until it has had nothing to do for a while;
// then it blocks until it is woken. A worker that shares its core gives the lock back after every pass, so that a thread which waits
// in the library can make progress itself; between passes it does what idle_strategy.hpp says.
#pragma once

#include "base/library_thread.hpp"
#include "core/counters.hpp"
#include "core/idle_strategy.hpp"
#include "core/lane.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace commtask::detail {

struct worker_settings {
    bool is_reserved = false;
    std::uint64_t spin_ns = 0; ///< How long a reserved worker without work spins before it sleeps.
    std::uint64_t wait_max_ns =
        1; ///< The longest wait of a shared worker with something in flight that nobody rings for.
    lane_stats* counters = nullptr;   ///< Null: nothing is counted.
    std::function<void()> on_start{}; ///< Runs first, on the worker's thread: binds it.
    std::uint64_t lend_after_ns =
        0; ///< How long it sleeps until it lends its core; 0: only when told to, or for a pause.
    std::function<void(bool is_lent)> lend_core{}; ///< On the worker's thread; empty: it has none to lend.
    std::size_t stack_bytes = 0;                   ///< Of its thread; 0: the default of the system.
};

class worker {
public:
    /// @throws std::system_error if the system gives no thread.
    worker(lane& served, worker_settings settings);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() { stop(); }

    /// Ends the thread after its pass. Tasks that are left stay where they are.
    void stop() noexcept;
    /// The same without waiting for it: it may be inside a call that does not come back.
    void let_end() noexcept;

    /// Any thread. Whether it lends its core whenever it has nothing to do, and not only after a while.
    void lend_at_once(bool is_so) noexcept {
        // Before the ring: the sleeper looks after it has lain down. One that lends already need not wake.
        if (!lends_at_once_.exchange(is_so, std::memory_order_seq_cst) && is_so) lane_.wake_up.wake_surely();
    }

    /// Whether the calling thread is the worker's.
    [[nodiscard]] bool is_me() const noexcept { return thread_.is_me(); }

    [[nodiscard]] bool is_reserved() const noexcept { return settings_.is_reserved; }

private:
    void run() noexcept;
    void run_reserved() noexcept;
    void run_shared() noexcept;
    bool timed_progress() noexcept;
    void count_sleep() noexcept;
    [[nodiscard]] bool spin_until_work() noexcept;
    [[nodiscard]] bool take_lock() noexcept;
    [[nodiscard]] bool let_callers_in() noexcept;
    void sleep() noexcept;
    template <typename IsTold>
    void sleep_for(std::int64_t limit_ns, IsTold&& is_told) noexcept;
    [[nodiscard]] bool must_lend() noexcept;
    void tell_of_pause() const noexcept;
    [[nodiscard]] bool is_rung_for_all() const noexcept;
    [[nodiscard]] bool must_stay_awake() const noexcept;
    [[nodiscard]] bool has_something() const noexcept;
    void rest() noexcept;
    void rest_for_a_moment() noexcept;
    [[nodiscard]] worker_turn turn(std::uint64_t& n_calls_known, bool is_woken) noexcept;
    [[nodiscard]] bool pause(const worker_pause& next, const worker_turn& after, std::uint64_t& n_calls_known) noexcept;
    [[nodiscard]] bool wait(const worker_pause& next, const worker_turn& after, std::uint64_t& n_calls_known) noexcept;
    [[nodiscard]] bool polls_once_armed(std::uint64_t& n_calls_known) noexcept;
    [[nodiscard]] bool has_reason_to_wake() const noexcept {
        return lane_.has_arrivals() || must_stop_.load(std::memory_order_seq_cst);
    }

    lane& lane_;
    const worker_settings settings_;
    std::atomic<bool> must_stop_{false};
    std::atomic<bool> lends_at_once_{false};
    library_thread thread_;
};

} // namespace commtask::detail
