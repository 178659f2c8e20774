// SPDX-License-Identifier: Apache-2.0
//
// A lane: the tasks of the communicators that it serves, from post to end. It consists of a
// submission queue, a scheduler, a progress engine, a finalizer and the wakeup of its worker
// (worker.hpp). The lane adds the way of a task through these parts. Any thread may call the lane's
// functions; each part states which threads may call its own.
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
    /// @param waiters  where threads that wait for tasks sleep; the lanes of one set share it
    lane(transport& carrier, wait_queue& waiters, const lane_settings& settings);
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;

    // Submission: submit.cpp ----------------------------------------------------------------------

    /// Takes over an initialised task. Waits while the queue is full.
    void post(task& posted) noexcept;

    /// As post(), for a thread that must not wait: without room in the ring the task keeps its
    /// place, and comes by another way.
    void post_without_waiting(task& posted) noexcept;

    /// @param take_turn  called with the task once there is room for it: a task without room must
    /// not take its turn in program order, since later tasks would wait for it. Null: the task
    /// takes no turn
    /// @return false if the queue is full
    [[nodiscard]] bool try_post(task& posted, void (*take_turn)(task&) noexcept = nullptr) noexcept;

    /// Starts a task that was posted with a reference for the caller, and all tasks posted before
    /// it. A submitter does so where the worker has no core of its own. Waits until about
    /// `deadline_ns` of now_ns() for three things: the progress lock, submitters that have taken an
    /// earlier place, and functions of the program before the task, which the worker runs. Not in a
    /// progress call.
    void start_posted(const task& which, std::uint64_t deadline_ns) noexcept;

    /// The last predecessor of a task of this lane is complete. Called once, by the thread that
    /// counted it down to zero.
    void released(task& which) noexcept;

    /// Cancels a task of which the caller has a reference.
    void cancel(task& which) noexcept;

    /// Another thread marks a task: its last predecessor is complete, it is canceled, or its
    /// members on other lanes have ended. If several threads mark at once, the first thread hands
    /// the task over for all of them.
    void mark(task& which, std::uint32_t bit) noexcept;

    // ---------------------------------------------------------------------------------------------

    /// The next progress call writes the list of incomplete tasks, under a heading that lives as
    /// long as the program.
    void request_list(const char* heading) noexcept {
        requests.request_list(heading);
        wake_up.wake();
    }
    /// Each progress call says from now on whether any task is left.
    void watch_drain() noexcept {
        requests.watch_drain();
        wake_up.wake_unconditionally();
    }
    /// After watch_drain(): whether no task was left after the last progress call, and none has
    /// come since. Exact for one lane once the program posts no more; for several lanes see
    /// lane_set::is_quiet().
    [[nodiscard]] bool was_quiet() const noexcept;

    /// @param change  1 for each window that is opened, -1 for each window that is closed. The
    /// worker polls as long as a window is open.
    void count_windows(int change) noexcept {
        engine.count_windows(change);
        wake_up.wake_unconditionally();
    }

    /// The program wants the workers' cores for itself, or no longer does. While the workers are
    /// paused, the worker polls seldom, and waiting threads make progress. Submitters start their
    /// operations, as beside a worker that shares its core.
    void set_paused(bool is_paused) noexcept {
        // A worker that is about to wait must see it.
        is_paused_.store(is_paused, std::memory_order_seq_cst);
        wake_up.wake_unconditionally();
    }
    [[nodiscard]] bool is_paused() const noexcept { return is_paused_.load(std::memory_order_relaxed); }

    /// Whether a task or a question has come that no progress call has seen. Also for a worker that
    /// is about to wait.
    [[nodiscard]] bool has_arrivals() const noexcept { return !submitted.is_empty() || requests.has_new(); }
    /// Whether a progress call could move something: for a poll in every turn of a loop, without
    /// the progress lock. Misses a post that is just being made.
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
    [[nodiscard]] bool start_and_give_back(const task* which = nullptr, bool* is_left = nullptr) noexcept;

    const lane_settings settings_;
    /// In a line that every post reads; it hardly ever changes.
    std::atomic<bool> is_paused_{false};

public:
    wakeup wake_up; ///< Where the worker waits.
    submission_queue submitted;
    progress_requests requests;
    scheduler scheduled;
    incomplete_tasks incomplete;
    progress_engine engine;
    finalizer ending;
};

} // namespace commtask::detail
