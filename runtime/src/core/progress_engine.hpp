// SPDX-License-Identifier: Apache-2.0
//
// The progress engine of a lane: starts ready tasks, polls the transport, and completes tasks. The
// engine has no thread of its own: the worker, waiting threads, submitters and external callers
// call it, one at a time, with the progress lock. MPI is called only through `transport`.
#pragma once

#include "base/callback_guard.hpp"
#include "core/incomplete_tasks.hpp"
#include "core/lane_settings.hpp"
#include "core/progress_lock.hpp"
#include "core/progress_requests.hpp"
#include "core/scheduler.hpp"
#include "core/submission_queue.hpp"
#include "core/thread_scopes.hpp"
#include "core/transport.hpp"
#include "core/wakeup.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

class progress_engine final : public completion_sink {
public:
    /// The other parts of the lane outlive the engine.
    /// @param waiters  the queue on which threads wait for tasks
    progress_engine(transport& carrier, submission_queue& submitted, scheduler& scheduled, progress_requests& requests,
                    const incomplete_tasks& incomplete, wait_queue& waiters, const lane_settings& settings);

    progress_lock lock;

    // Any thread ----------------------------------------------------------------------------------

    /// Approximate: the number of progress calls so far.
    [[nodiscard]] std::uint64_t approx_progress_calls() const noexcept {
        return n_calls_.load(std::memory_order_relaxed);
    }
    /// The kind of the operation whose start is in progress; 0: none.
    [[nodiscard]] int approx_starting_kind() const noexcept { return starting_kind_.load(std::memory_order_relaxed); }
    /// Whether there was something to poll or start after the last progress call.
    [[nodiscard]] bool approx_has_work() const noexcept { return has_work_.load(std::memory_order_seq_cst); }

    /// Counts open windows: other ranks that access them may need this rank's progress although
    /// nothing is in flight here.
    void count_windows(int change) noexcept {
        // seq_cst: a worker that is about to wait must see the change
        n_windows_.fetch_add(change, std::memory_order_seq_cst);
    }
    [[nodiscard]] bool has_windows() const noexcept { return n_windows_.load(std::memory_order_seq_cst) > 0; }
    /// Whether other ranks may need this rank's progress although nothing is in flight here.
    [[nodiscard]] bool must_serve_others() const noexcept {
        return has_windows() || (node_ != nullptr && node_->must_listen());
    }

    /// Called when a function of the program, or a call of MPI, blocks the progress thread and no
    /// thread can wait for it any longer. If the function returns, a submitter returns to the
    /// program, and any other thread waits forever. No thread makes progress any more, and the lane
    /// must not be destroyed.
    void abandon() noexcept { lock.abandon(); }

    /// Records the calling thread's activity on the lane, if it changes. Called at the beginning of
    /// a progress call; the time between two calls needs no record.
    void thread_does(activity now) const noexcept {
        if (activities_ != nullptr) [[unlikely]]
            activities_->thread_does(number_, now);
    }

    // With the progress lock ----------------------------------------------------------------------

    /// Makes one progress call: accepts submitted tasks, starts ready tasks, polls the transport
    /// once.
    /// @return whether a task was accepted, started or completed
    bool progress() noexcept;

    /// Polls several times for other ranks' accesses to windows.
    void serve_windows() noexcept;

    /// Polls one task that the poll of the last progress call may have left out.
    void poll_one(task& which) noexcept;

    /// Accepts all tasks that were submitted before. Calls no function of the program or of MPI.
    void accept_all() noexcept;
    /// As accept_all(), and starts ready tasks; does not poll.
    void accept_and_start() noexcept;

    /// For a submitter: accepts and starts submitted tasks in order, up to the first task that
    /// calls a function of the program, which may need a lock that the submitter has.
    /// @return false if tasks are left for a progress call
    [[nodiscard]] bool start_submitted() noexcept;

    /// Whether a progress call has something to do without a new submission: tasks, or
    /// announcements to other nodes.
    [[nodiscard]] bool has_work() const noexcept { return has_tasks() || (node_ != nullptr && node_->has_unsent()); }
    [[nodiscard]] bool has_ended_at_once() const noexcept { return !ended_at_once_.is_empty(); }
    [[nodiscard]] transport& below() noexcept { return *transport_; }

    /// The scope of a call that may change tasks. All such calls except progress() use it.
    class call_scope {
    public:
        explicit call_scope(progress_engine& entered) noexcept : scope_(entered), engine_(entered) {
            engine_.begin_call();
        }
        call_scope(const call_scope&) = delete;
        call_scope& operator=(const call_scope&) = delete;
        ~call_scope() { engine_.end_call(); }

    private:
        progress_scope scope_;
        progress_engine& engine_;
    };
    // Only inside a call_scope:
    void start_ready() noexcept;
    void poll_all() noexcept { transport_->poll(*this); }
    void abandon_task(task& which) noexcept;

    // Called by the transport.
    void part_ended(task& which, std::uint32_t part) noexcept override;

private:
    [[nodiscard]] bool has_listed() const noexcept { return scheduled_.has_ready() || has_ended_at_once(); }
    [[nodiscard]] bool has_tasks() const noexcept {
        return transport_->in_flight() > 0 || has_listed() || submitted_.has_kept();
    }
    [[nodiscard]] bool must_run() const noexcept;
    void begin_call() noexcept;
    void end_call() noexcept;
    void publish_remaining_work() noexcept;
    void accept_submitted() noexcept;
    void process_marked() noexcept;
    void start_gathered() noexcept;
    void start_or_end(task& ready) noexcept;
    void start_run(task& run) noexcept;
    [[nodiscard]] bool start(task& ready) noexcept;
    void end_by_result(task& which) noexcept;
    void end_run(task& run) noexcept;
    void report_to_run(task& member, task_state how) noexcept;
    void finish(task& which, task_state state) noexcept;
    void run_callback(task& which, task_state state) noexcept;
    void report_slow_callback(const task& which, const callback_guard::verdict& found) const;
    void wait_if_abandoned() noexcept;

    transport* const transport_;
    submission_queue& submitted_;
    scheduler& scheduled_;
    progress_requests& requests_;
    const incomplete_tasks& incomplete_;
    wait_queue& waiters_;
    node_observer* const node_;
    failure_sink* const failures_;
    activity_observer* const activities_;
    const std::uint8_t number_;
    const bool has_other_lanes_;
    std::atomic<int> n_windows_{0};

    // With the progress lock.
    /// Tasks that ended on a submitter's thread, which must not run their callbacks.
    alignas(cache_line_bytes) task_list ended_at_once_;
    std::uint64_t n_ended_in_call_ = 0;
    callback_guard callbacks_;
    std::atomic<std::uint64_t> n_calls_{0};
    std::atomic<bool> has_work_{false};
    std::atomic<int> starting_kind_{0};
};

/// For graph::finish() and graph::signal(): releases a task to its lane after its last predecessor
/// has ended.
void release_to_its_lane(task& successor) noexcept;

/// Fills a caller's status from a final task. Fields beyond status.struct_size do not change.
void copy_status(const task& which, task_state state, commtask_status& status) noexcept;

/// Fills the status for a callback.
/// @param reads_state_alone  the callback reads only the state. For a completed task only the state
/// is then written, which saves a cache line
void fill_for_callback(const task& which, task_state state, bool reads_state_alone, commtask_status& status) noexcept;

} // namespace commtask::detail
