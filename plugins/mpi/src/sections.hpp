// SPDX-License-Identifier: Apache-2.0
//
// How a thread of the program calls MPI. Below the program MPI has MPI_THREAD_SERIALIZED, so a thread that calls it holds the lane's
// progress lock; a program that asked for MPI_THREAD_MULTIPLE gets it below too, and then a call that can only block does so without
// the progress lock, beside the worker. With several lanes, which need MPI_THREAD_MULTIPLE, a section has the progress locks of all of
// them. A section is such a call's scope: on entry everything that was posted before has been issued, so that MPI sees the calls in
// the program's order. Calls that MPI or the runtime make from inside one pass through.
#pragma once

#include "api/context.hpp"
#include "base/float_modes.hpp"
#include "base/tuning.hpp"
#include "real_mpi.hpp"
#include "spin_limit.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include <unistd.h>

namespace commtask::interposer {

/// What a thread is doing for us.
struct thread_state {
    int depth = 0; ///< Sections that it is in; the outermost one may have the progress lock.
    unsigned n_sections = 0;
    unsigned call = 0; ///< The wrapper that the program called, from 1; 0: none.
    /// An error that ends the program when the call is out of MPI, whose lock it has in hand until then.
    MPI_Comm fatal_comm = MPI_COMM_NULL;
    int fatal_code = MPI_SUCCESS;
};
inline thread_local thread_state mine;

/// What became of the workers. All ranks have them or none has, so what ranks must do alike goes by that; a rank's own may be left
/// behind, so what only this one does goes by its lanes.
enum class workers : std::uint8_t {
    none,        ///< Not started, or MPI is over, or this is a forked child -> MPI_Init (there).
    there,       ///< They serve -> commtask_finalize, or MPI_Finalize after it was forgotten (asked).
    asked,       ///< A thread waits for the end of what they do for the program -> that thread (there, left_behind).
    left_behind, ///< One is inside a function of the program's for ever, and the calls are MPI's own -> MPI_Finalize (none).
};

/// Between MPI_Init and MPI_Finalize. Written by those two, read by every call.
struct interposed_program {
    std::atomic<detail::lane_set*> lanes{nullptr}; ///< Null: calls go straight to MPI.
    std::atomic<workers> state{workers::none};
    detail::waiting_policy waiting;
    bool lets_threads_in = false;        ///< MPI_THREAD_MULTIPLE below.
    spin_limit patience;                 ///< Of blocking calls.
    MPI_Status empty_status{};           ///< What a null request's wait gives.
    bool waitall_writes_success = false; ///< This MPI's MPI_Waitall writes MPI_ERROR also when nothing has failed.
    /// The lanes after the program's exit() has begun: their workers are kept out of MPI.
    std::atomic<detail::lane_set*> parked_lanes{nullptr};
};
/// Initialised before any code runs: a library's constructor may call MPI_Init before ours.
inline constinit interposed_program current;

/// A call that the program makes although its exit() has begun, from a handler that was registered early: on the thread that
/// ends the program the worker goes on once more, until the next handler. @return null on any other thread.
[[nodiscard]] detail::lane_set* unpark() noexcept;

/// Null before MPI_Init and after MPI_Finalize.
[[nodiscard]] inline detail::lane_set* active_lanes() noexcept {
    detail::lane_set* const lanes = current.lanes.load(std::memory_order_acquire);
    if (lanes != nullptr || current.parked_lanes.load(std::memory_order_acquire) == nullptr) return lanes;
    return unpark();
}

/// Whether a call comes from below: from MPI, a callback that it runs, or a driver.
[[nodiscard]] inline bool comes_from_below() noexcept { return mine.depth > 0 || detail::in_progress_call(); }

/// Or whether there is no worker.
[[nodiscard]] inline bool passes_through() noexcept { return comes_from_below() || active_lanes() == nullptr; }

/// Whether a blocking call waits for the progress locks though others do so already, instead of becoming a task: the workers may be left
/// behind, and nobody would complete the task.
[[nodiscard]] inline bool must_stay_a_call() noexcept { return current.state.load() == workers::asked; }

/// MPI is this thread's as long as one of these lives. With MPI_THREAD_MULTIPLE MPICH has its lock in hand when it calls a function
/// of the program's inside (but those of attributes, which are called in a blocking_section): who waits there is refused.
class progress_section {
public:
    progress_section() noexcept : lanes_(active_lanes()), refused_(current.lets_threads_in && mine.depth == 0) {
        ++mine.depth;
        if (lanes_ == nullptr || mine.depth > 1 || detail::in_progress_call()) {
            lanes_ = nullptr;
            return;
        }
        detail::reductions_in_flight::caller_has(detail::modes_of_this_thread());
        if (lanes_->take_all_locks()) {
            for (detail::lane& each : *lanes_) each.engine.take_in_and_start();
        } else {
            lanes_ = nullptr; // they were left behind: the calls are MPI's own from here on
        }
    }
    progress_section(const progress_section&) = delete;
    progress_section& operator=(const progress_section&) = delete;
    ~progress_section() {
        if (lanes_ == nullptr) {
            --mine.depth;
            return;
        }
        // Threads that call MPI in a loop would keep everybody's tasks from ending: external callers go before drivers.
        if (lanes_->has_work() && ++mine.n_sections % detail::tuning::calls_between_progress == 0) lanes_->progress();
        --mine.depth;
        for (detail::lane& each : *lanes_) {
            const bool leaves_work = each.engine.has_work() || each.has_arrivals();
            each.engine.thread_does(detail::activity::none);
            each.engine.lock.give_back();
            if (leaves_work) each.wake_up.wake_from_long_wait();
        }
    }

private:
    detail::lane_set* lanes_;
    detail::refused_waits refused_;
};

/// Like progress_section, for calls that may block until other processes act: other threads go on where MPI permits it.
class blocking_section {
public:
    blocking_section() noexcept {
        if (mine.depth > 0 || !current.lets_threads_in || active_lanes() == nullptr) {
            holder_.emplace();
            return;
        }
        { const progress_section issue_what_was_posted; }
        ++mine.depth;
        add_blocked_outside(1);
    }
    blocking_section(const blocking_section&) = delete;
    blocking_section& operator=(const blocking_section&) = delete;
    ~blocking_section() {
        if (holder_) return;
        --mine.depth;
        add_blocked_outside(-1);
    }

private:
    static void add_blocked_outside(int by) noexcept {
        detail::lane_set* const lanes = active_lanes();
        if (lanes == nullptr) return;
        for (detail::lane& each : *lanes) each.engine.lock.add_blocked_outside(by);
    }

    std::optional<progress_section> holder_; ///< None: other threads may call MPI meanwhile.
};

/// Whether this thread may drive: it is in a section that took the progress lock, and in no pass.
[[nodiscard]] inline bool has_lock(const detail::lane_set* lanes) noexcept {
    return lanes != nullptr && lanes->is_held_by_me() && !detail::in_progress_call();
}

/// The lanes, for a thread that waits. Without one the program ends on another thread, and nobody will complete anything
/// any more: natively this thread would be in MPI. @return null if they were left behind: the calls are MPI's own
[[nodiscard]] inline detail::lane_set* lanes_for_waiting() noexcept {
    for (;;) {
        if (detail::lane_set* const lanes = active_lanes()) return lanes;
        if (current.state.load() == workers::left_behind) return nullptr;
        pause();
    }
}

/// Makes a call and looks whether it ends soon, holding the progress locks for a while at a time. The caller is in no section.
/// @param start  bool(): false if it may not be made here after all
/// @param look  bool(): whether it has ended
enum class in_passing : std::uint8_t { refused, open, ended };
template <typename Start, typename Look>
[[nodiscard]] in_passing start_in_passing(Start&& start, Look&& look) {
    for (unsigned turn = 0; turn < detail::tuning::turns_in_passing; ++turn) {
        if (turn > 0) sched_yield();
        // Before the section: nobody may sleep with the progress lock in hand.
        detail::lane_set* const lanes = turn == 0 ? lanes_for_waiting() : active_lanes();
        // Left behind: its request is not to wait for ever.
        if (lanes == nullptr) return turn == 0 ? in_passing::refused : in_passing::open;
        const progress_section section;
        if (turn == 0 && !start()) return in_passing::refused;
        const unsigned n_looks = current.patience.now();
        bool is_disturbed = false;
        for (unsigned i = 1; i <= n_looks && !is_disturbed; ++i) {
            if (look()) {
                if (turn == 0) current.patience.was_answered_after(i);
                return in_passing::ended;
            }
            if (i % detail::tuning::steps_in_a_row == 0 && has_lock(lanes))
                lanes->progress(); // what other threads have posted does not wait for this call
            is_disturbed = lanes->has_callers();
        }
        if (!is_disturbed) current.patience.was_in_vain();
    }
    return in_passing::open;
}

/// The result of a call made inside a section.
template <typename Section, typename Call>
[[nodiscard]] auto inside(Call&& call) {
    const Section section;
    return call();
}

/// The code of a call, and what is to be kept of one that has succeeded.
template <typename Note>
int noted(int code, Note&& note) {
    if (code == MPI_SUCCESS) note();
    return code;
}

/// Looks again and again until `look()`, which may call MPI: it holds the progress lock meanwhile. Drives the lane between looks.
template <typename Look>
void poll_until(Look&& look) {
    for (unsigned i = 1;; ++i) {
        {
            const progress_section section;
            if (look()) return;
            if (detail::lane_set* const lanes = active_lanes(); has_lock(lanes)) lanes->progress();
        }
        if (i % detail::tuning::steps_in_a_row == 0) sched_yield();
    }
}

/// Waits until `is_done()`, which only looks at tasks.
template <typename IsDone>
void wait_for_tasks(IsDone&& is_done) {
    if (is_done()) return;
    detail::lane_set* const lanes = lanes_for_waiting();
    if (lanes != nullptr) detail::wait_in_library(*lanes, current.waiting, -1, is_done);
    while (!is_done()) pause(); // left behind with this task
}

/// Looks once at what MPI has completed, unless `is_done()` already: a test must find what had ended when it was called,
/// whether the worker has seen it yet or not.
/// @param for_each_task  void(look): calls bool look(task&), which says whether it has ended, for the tasks that the test is
///                       about, as far as it must know.
template <typename IsDone, typename ForEachTask>
void look_once(IsDone&& is_done, ForEachTask&& for_each_task) {
    if (is_done() || detail::in_progress_call()) return;
    // A loop of tests would keep the progress lock from threads that wait for it.
    if (detail::lane_set* const lanes = active_lanes(); lanes != nullptr && lanes->has_callers()) sched_yield();
    const progress_section section;
    detail::lane_set* const lanes = active_lanes();
    if (!has_lock(lanes)) return;
    lanes->progress();
    if (is_done()) return;
    for_each_task([](detail::task& which) {
        which.queue->served_by->engine.poll_one(which);
        return which.life.state() != detail::task_state::open;
    });
}

} // namespace commtask::interposer
