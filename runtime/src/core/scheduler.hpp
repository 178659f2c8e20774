// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of a lane: keeps tasks until their predecessors are complete and their turns in
// program order have come, and lists ready tasks. Any thread may call the functions that begin with
// "approx"; all other functions need the progress lock.
#pragma once

#include "core/observer.hpp"
#include "core/task.hpp"
#include "core/task_list.hpp"
#include "core/task_pool.hpp"
#include "core/transport.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace commtask::detail {

/// Adds to a counter that one thread at a time writes, without a locked instruction.
inline void count_one(std::atomic<std::uint64_t>& counter, std::int64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(by), std::memory_order_relaxed);
}

class scheduler {
public:
    /// @param observers  called for every step of every task; they outlive the scheduler
    /// @param number  the lane's number
    scheduler(transport& carrier, const std::vector<task_observer*>& observers, std::uint8_t number)
        : transport_(&carrier), observers_(observers), number_(number) {}
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;

    /// Accepts a submitted task: the task waits for predecessors, awaits its turn, or becomes
    /// ready.
    void accept(task& submitted) noexcept;

    /// The last predecessor of a task has ended. A canceled task may be final already.
    void released(task& which) noexcept;

    /// Cancels a task whose marks have mark_cancel. accept() cancels a task that is not accepted
    /// yet.
    void cancel(task& which) noexcept;

    // The ready list, in the order of starts.
    [[nodiscard]] bool has_ready() const noexcept { return !ready_.is_empty(); }
    [[nodiscard]] task& first_ready() noexcept { return *ready_.first(); }
    [[nodiscard]] task* take_ready() noexcept { return ready_.pop(); }

    /// Changes the phase; no other function does.
    /// @param end  how the task ends, if `to` is final
    void move(task& which, phase from, phase to, task_state end = task_state::open) noexcept {
        COMMTASK_ASSERT(which.run.now == from);
        which.run.now = to;
        if (!observers_.empty()) notify_observers(which, from, to, end);
    }
    /// Makes the task final. The task counts as live until remove().
    void end(task& which, task_state how) noexcept;
    void remove(const task& which) noexcept;

    /// Whether the task must end without a start: it is canceled, or a predecessor has failed.
    [[nodiscard]] static bool must_not_start(const task& which) noexcept;
    [[nodiscard]] static bool is_marked(const task& which, std::uint32_t mark) noexcept;
    [[nodiscard]] bool is_live(const task& which) const noexcept {
        return which.live_in.load(std::memory_order_relaxed) == this;
    }

    // Runs of plans: plan_runs.cpp.
    void cancel_members(task& run) noexcept;
    /// Cancels the other groups of a partitioned member after one group has failed: their data may
    /// not arrive.
    static void cancel_groups(const plan_member& failed) noexcept;
    /// A canceled member no longer waits for commtask_plan_pready.
    static void stop_waiting_for_ready(task& member) noexcept;

    /// The time, read at most once in a progress call.
    [[nodiscard]] std::uint64_t call_time() noexcept;
    void begin_call() noexcept { call_ns_ = 0; }

    /// Visits each task that was accepted and is not final. Scans all slots, so accepting a task
    /// costs nothing for it. Allocates no memory.
    template <typename Visit>
    void for_each_live(Visit&& visit) const {
        task_pool::for_each_slot([&](task& slot) {
            if (is_live(slot)) visit(slot);
        });
    }

    /// Approximate counts: tasks that have ended; tasks that were accepted and have not ended;
    /// among the latter, receives with an active-message handler.
    [[nodiscard]] std::uint64_t approx_ended() const noexcept { return n_ended_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t approx_live() const noexcept { return n_live_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t approx_handlers() const noexcept { return n_handlers_.load(std::memory_order_relaxed); }
    /// The lane's number. Any thread.
    [[nodiscard]] std::uint8_t number() const noexcept { return number_; }

private:
    void make_ready(task& which, phase from) noexcept;
    void make_run_ready(task& run, phase from) noexcept;
    void leave_order(task& which, phase from) noexcept;
    void enqueue_ready(task& ready, phase from) noexcept;
    void notify_observers(task& which, phase from, phase to, task_state end) noexcept;

    transport* const transport_;
    const std::vector<task_observer*> observers_;
    const std::uint8_t number_;
    alignas(cache_line_bytes) task_list ready_; ///< In a line that other threads do not poll.
    /// The time of this progress call; 0: not read yet.
    std::uint64_t call_ns_ = 0;
    std::uint64_t n_accepted_ = 0;
    std::atomic<std::uint64_t> n_ended_{0};
    std::atomic<std::uint64_t> n_live_{0};
    std::atomic<std::uint64_t> n_handlers_{0};
};

} // namespace commtask::detail
