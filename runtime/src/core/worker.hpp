// SPDX-License-Identifier: Apache-2.0
//
// The thread of a lane. A reserved worker keeps the progress lock and polls on its own core; after
// a time without work it blocks until it is woken. A shared worker gives the lock back after every
// progress call, so that waiting threads can make progress. Between progress calls it follows
// idle_strategy.hpp.
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
    std::uint64_t spin_ns = 0; ///< How long a worker without work spins before it blocks.
    /// The longest wait of a shared worker while something is in flight that no doorbell announces.
    std::uint64_t wait_max_ns = 1;
    lane_stats* counters = nullptr; ///< Null: no statistics.
    /// Called first on the worker's thread, to bind it to its core.
    std::function<void()> on_start{};
    /// How long the worker blocks before it lends its core; 0: it lends the core only on request,
    /// or while paused.
    std::uint64_t lend_after_ns = 0;
    /// Called on the worker's thread to lend and take back its core; empty: the worker has no core
    /// to lend.
    std::function<void(bool is_lent)> lend_core{};
    std::size_t stack_bytes = 0; ///< The stack size of the thread; 0: the system's default.
};

class worker {
public:
    /// @throws std::system_error if the system gives no thread
    worker(lane& served, worker_settings settings);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() { stop(); }

    /// Stops the thread after its current progress call. Incomplete tasks do not change.
    void stop() noexcept;
    /// As stop(), but does not wait for the thread, which may be in a call that does not return.
    void request_stop() noexcept;

    /// Any thread. Sets whether the worker lends its core as soon as it blocks, instead of after
    /// lend_after_ns.
    void lend_at_once(bool is_so) noexcept {
        // Stored before the wake-up: the worker reads it after it has announced its wait. A worker
        // that has lent its core need not wake.
        if (!lends_at_once_.exchange(is_so, std::memory_order_seq_cst) && is_so) lane_.wake_up.wake_unconditionally();
    }

    /// Whether the calling thread is this worker.
    [[nodiscard]] bool is_me() const noexcept { return thread_.is_me(); }

    [[nodiscard]] bool is_reserved() const noexcept { return settings_.is_reserved; }

private:
    void run() noexcept;
    void run_reserved() noexcept;
    void run_shared() noexcept;
    bool timed_progress() noexcept;
    void count_block() noexcept;
    [[nodiscard]] bool spin_until_work() noexcept;
    [[nodiscard]] bool acquire_lock() noexcept;
    [[nodiscard]] bool yield_lock() noexcept;
    void block() noexcept;
    template <typename IsRequested>
    void block_for(std::int64_t limit_ns, IsRequested&& is_requested) noexcept;
    [[nodiscard]] bool wait_before_lending() noexcept;
    void record_idle() const noexcept;
    [[nodiscard]] bool is_rung_for_all() const noexcept;
    [[nodiscard]] bool must_stay_awake() const noexcept;
    [[nodiscard]] bool has_work() const noexcept;
    void run_paused() noexcept;
    void wait_paused() noexcept;
    [[nodiscard]] worker_turn turn(std::uint64_t& n_calls_known, bool is_woken) noexcept;
    [[nodiscard]] bool pause(const worker_pause& next, const worker_turn& after, std::uint64_t& n_calls_known) noexcept;
    [[nodiscard]] bool wait(const worker_pause& next, const worker_turn& after, std::uint64_t& n_calls_known) noexcept;
    [[nodiscard]] bool poll_once_armed(std::uint64_t& n_calls_known) noexcept;

    lane& lane_;
    const worker_settings settings_;
    std::atomic<bool> must_stop_{false};
    std::atomic<bool> lends_at_once_{false};
    library_thread thread_;
};

} // namespace commtask::detail
