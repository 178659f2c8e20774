// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of a lane: keeps a submitted task until its predecessors are complete and its place
// in program order has come, and lists the tasks that may start. Any thread may call the functions
// that begin with "approx"; all other functions need the progress lock.
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

/// Adds to a counter that one thread at a time writes: no locked instruction.
inline void count_one(std::atomic<std::uint64_t>& counter, std::int64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(by), std::memory_order_relaxed);
}

class scheduler {
public:
    /// @param observers  are told of every step of every task; they outlast the scheduler
    /// @param number  the lane's number
    scheduler(transport& carrier, const std::vector<task_observer*>& observers, std::uint8_t number)
        : transport_(&carrier), observers_(observers), number_(number) {}
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;

    /// A task that was submitted: it waits, is queued behind earlier tasks in program order, or may
    /// start.
    void accept(task& submitted) noexcept;

    /// The last predecessor of a task is complete. If the task did not wait for that, it may be
    /// final already.
    void released(task& which) noexcept;

    /// The marks of a task say that the task is canceled. A task that has not been accepted yet is
    /// canceled by accept().
    void cancel(task& which) noexcept;

    // The ready list: tasks whose start comes next, in order.
    [[nodiscard]] bool has_ready() const noexcept { return !ready_.is_empty(); }
    [[nodiscard]] task& first_ready() noexcept { return *ready_.first(); }
    [[nodiscard]] task* take_ready() noexcept { return ready_.pop(); }

    /// The only way from phase to phase.
    /// @param end  how the task ends, if `to` is final
    void move(task& which, phase from, phase to, task_state end = task_state::open) noexcept {
        COMMTASK_ASSERT(which.run.now == from);
        which.run.now = to;
        if (!observers_.empty()) notify_observers(which, from, to, end);
    }
    /// The task is final. It counts as live until gone().
    void end(task& which, task_state how) noexcept;
    void remove(const task& which) noexcept;

    /// Whether the task ends without a start: canceled, or after a failed predecessor.
    [[nodiscard]] static bool must_not_start(const task& which) noexcept;
    [[nodiscard]] static bool is_marked(const task& which, std::uint32_t mark) noexcept;
    [[nodiscard]] bool is_live(const task& which) const noexcept {
        return which.live_in.load(std::memory_order_relaxed) == this;
    }

    // Runs of plans: plan_runs.cpp.
    void cancel_members(task& run) noexcept;
    /// The other groups of a partitioned member of which one group has failed: their data may not
    /// come.
    static void cancel_groups(const plan_member& failed) noexcept;
    /// commtask_plan_pready does not wait for a canceled member any more.
    static void stop_waiting_for_ready(task& member) noexcept;

    /// The clock, read at most once in a progress call.
    [[nodiscard]] std::uint64_t call_time() noexcept;
    void begin_call() noexcept { call_ns_ = 0; }

    /// Visits each task that was accepted and is not final. Reads every slot, so that running tasks
    /// pay nothing for it; allocates no memory.
    template <typename Visit>
    void for_each_live(Visit&& visit) const {
        task_pool::for_each_slot([&](task& slot) {
            if (is_live(slot)) visit(slot);
        });
    }

    /// Approximately: tasks ended so far, tasks accepted and not ended, and among the latter
    /// receives with an active-message handler.
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
    alignas(cache_line_bytes) task_list ready_; ///< A line that other threads do not poll.
    /// When this progress call first read the clock; 0: it has not.
    std::uint64_t call_ns_ = 0;
    std::uint64_t n_accepted_ = 0;
    std::atomic<std::uint64_t> n_ended_{0};
    std::atomic<std::uint64_t> n_live_{0};
    std::atomic<std::uint64_t> n_handlers_{0};
};

} // namespace commtask::detail
