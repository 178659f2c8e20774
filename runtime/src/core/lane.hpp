// SPDX-License-Identifier: Apache-2.0
//
// A lane: one worker thread with its queues, which serves the tasks of some communicators from post
// to end. A lane consists of a submission queue, a scheduler, a progress engine, a finalizer and
// the wakeup of its worker (worker.hpp). The lane adds the way of a task through these parts. Any
// thread may call the functions of this class; each part states which threads may call it.
#pragma once

#include "core/comm_queue.hpp"
#include "core/finalizer.hpp"
#include "core/incomplete_tasks.hpp"
#include "core/lane_settings.hpp"
#include "core/progress_engine.hpp"
#include "core/progress_requests.hpp"
#include "core/scheduler.hpp"
#include "core/submission_queue.hpp"
#include "core/thread_scopes.hpp"
#include "core/wakeup.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace commtask::detail {

class lane {
public:
    /// @param waiters  the queue on which threads wait for tasks; common to all lanes of a set
    lane(transport& carrier, wait_queue& waiters, const lane_settings& settings);
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;

    // Submission: submit.cpp ----------------------------------------------------------------------

    /// Submits an initialized task. Waits while the queue is full.
    void post(task& posted) noexcept;

    /// As post(), for a thread that must not wait: if the ring is full, the task reserves its
    /// position, and goes to an overflow list.
    void post_without_waiting(task& posted) noexcept;

    /// @param take_turn  called with the task once the queue has room for it; null: the task takes
    /// no turn. A task without room must not take its turn, since later tasks would wait for it
    /// @return false if the queue is full
    [[nodiscard]] bool try_post(task& posted, void (*take_turn)(task&) noexcept = nullptr) noexcept;

    /// Starts a task that was posted with a reference for the caller, and all tasks posted before
    /// it. Used by submitters whose worker shares its core. Waits until about `deadline_ns` of
    /// now_ns(): for the progress lock, for submitters of earlier positions, and for earlier tasks
    /// that only the worker may start. Not in a progress call.
    void start_posted(const task& which, std::uint64_t deadline_ns) noexcept;

    /// The last predecessor of a task of this lane has ended. Called once, by the thread that
    /// counted it down to zero.
    void released(task& which) noexcept;

    /// Cancels a task to which the caller has a reference.
    void cancel(task& which) noexcept;

    /// Marks a task of this lane from another thread: its last predecessor has ended, it is
    /// canceled, or its members on other lanes have ended. If several threads mark the task at
    /// once, one of them adds it to the submission queue.
    void mark(task& which, std::uint32_t bit) noexcept;

    // ---------------------------------------------------------------------------------------------

    /// Requests the list of incomplete tasks from the next progress call. `heading` is valid as
    /// long as the program.
    void request_list(const char* heading) noexcept {
        requests.request_list(heading);
        wake_up.wake();
    }
    /// From now on, each progress call reports whether a task is incomplete.
    void watch_drain() noexcept {
        requests.watch_drain();
        wake_up.wake_unconditionally();
    }
    /// After watch_drain(): whether no task is incomplete, and none was posted since the last
    /// progress call. Exact for one lane once the program posts no more; for several lanes see
    /// lane_set::is_quiet().
    [[nodiscard]] bool was_quiet() const noexcept;

    /// Counts open windows, since the worker polls as long as one is open.
    /// @param change  1 for a window that is opened, -1 for a window that is closed
    void count_windows(int change) noexcept {
        engine.count_windows(change);
        wake_up.wake_unconditionally();
    }

    /// Pauses or resumes the worker: the program wants its core. A paused worker polls rarely.
    /// Submitters start their operations and waiting threads make progress, as with a worker that
    /// shares its core.
    void set_paused(bool is_paused) noexcept {
        // seq_cst: a worker that is about to wait must see the change.
        is_paused_.store(is_paused, std::memory_order_seq_cst);
        wake_up.wake_unconditionally();
    }
    [[nodiscard]] bool is_paused() const noexcept { return is_paused_.load(std::memory_order_relaxed); }

    /// Whether a task was submitted, or a request was made, that no progress call has handled. Also
    /// for a worker that is about to wait.
    [[nodiscard]] bool has_arrivals() const noexcept { return !submitted.is_empty() || requests.has_new(); }
    /// Whether a progress call would find something to do. Cheap, for polling loops without the
    /// progress lock; may miss a post in progress.
    [[nodiscard]] bool could_move() const noexcept {
        return submitted.could_have_any() || engine.approx_has_work() || engine.must_serve_others() ||
               requests.could_have_new();
    }

    [[nodiscard]] std::uint8_t number() const noexcept { return scheduled.number(); }
    /// "the worker", or with several lanes "the worker of lane 1".
    [[nodiscard]] std::array<char, 32> worker_text() const noexcept;
    [[nodiscard]] node_observer* node() const noexcept { return settings_.node; }
    [[nodiscard]] activity_observer* activities() const noexcept { return settings_.activities; }

private:
    void after_post(std::uint32_t flags) noexcept;
    [[nodiscard]] bool try_start_here() noexcept;
    [[nodiscard]] bool start_and_release(const task* which = nullptr, bool* is_left = nullptr) noexcept;

    const lane_settings settings_;
    /// In a line that every post reads, since it rarely changes.
    std::atomic<bool> is_paused_{false};

public:
    wakeup wake_up; ///< The word on which the worker waits.
    submission_queue submitted;
    progress_requests requests;
    scheduler scheduled;
    incomplete_tasks incomplete;
    progress_engine engine;
    finalizer ending;
};

} // namespace commtask::detail
