// SPDX-License-Identifier: Apache-2.0
//
// How a thread of the program calls MPI. MPI runs with MPI_THREAD_SERIALIZED, so a thread that
// calls it needs the lane's progress lock. If the program asked for MPI_THREAD_MULTIPLE, MPI has
// that level. A call that has only a blocking form then runs without the progress lock,
// concurrently with the worker. With several lanes, which need MPI_THREAD_MULTIPLE, a section has
// the progress locks of all lanes.
//
// A section is the scope of such a call. On entry, all operations that were posted before are
// issued, so that MPI sees the calls in the program's order. Calls that MPI or the runtime makes
// inside a section go directly to MPI.
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

/// The state of a thread in this library.
struct thread_state {
    /// The number of sections that the thread is in; the outermost one may have the progress lock.
    int depth = 0;
    unsigned n_sections = 0;
    unsigned call = 0; ///< Number of the wrapper that the program called, from 1; 0: none.
    /// A fatal error. The program ends when the call has returned from MPI, whose lock is locked
    /// until then.
    MPI_Comm fatal_comm = MPI_COMM_NULL;
    int fatal_code = MPI_SUCCESS;
};
inline thread_local thread_state mine;

/// The state of the workers. All ranks have workers or none has, so actions that all ranks must
/// take alike depend on this state. Actions of this rank alone depend on its lanes, since the
/// workers of a single rank may be abandoned.
enum class workers : std::uint8_t {
    none,  ///< Not started, MPI is finalized, or a forked child. Next: MPI_Init -> there.
    there, ///< In service. Next: commtask_finalize, or MPI_Finalize without it -> asked.
    /// A thread waits until the workers have done the program's work. Next: that thread -> there or
    /// abandoned.
    asked,
    /// A worker never returns from a function of the program; calls go directly to MPI. Next:
    /// MPI_Finalize -> none.
    abandoned,
};

/// The state between MPI_Init and MPI_Finalize. Every call reads it.
struct interposed_program {
    std::atomic<detail::lane_set*> lanes{nullptr}; ///< Null: calls go directly to MPI.
    std::atomic<workers> state{workers::none};
    detail::waiting_policy waiting;
    bool has_thread_multiple = false; ///< MPI has MPI_THREAD_MULTIPLE.
    spin_limit polls;                 ///< The polls of a blocking call.
    MPI_Status empty_status{};        ///< The result of a wait for a null request.
    /// MPI_Waitall writes MPI_ERROR even if nothing has failed.
    bool waitall_writes_success = false;
    /// The lanes after the program's exit() has begun; their workers are kept out of MPI.
    std::atomic<detail::lane_set*> parked_lanes{nullptr};
};
/// Initialised before any code runs: a library's constructor may call MPI_Init before this
/// library's constructor runs.
inline constinit interposed_program current;

/// For a call that the program makes after its exit() has begun, in a handler that was registered
/// early. On the thread that ends the program, the workers resume until the next handler runs.
/// @return null on any other thread
[[nodiscard]] detail::lane_set* unpark() noexcept;

/// Null before MPI_Init and after MPI_Finalize. acquire: partner of the releases in lifecycle.cpp
/// and sharing.cpp, which store the lanes.
[[nodiscard]] inline detail::lane_set* active_lanes() noexcept {
    detail::lane_set* const lanes = current.lanes.load(std::memory_order_acquire);
    if (lanes != nullptr || current.parked_lanes.load(std::memory_order_acquire) == nullptr) return lanes;
    return unpark();
}

/// Whether a call does not come from the program itself, but from MPI, from a callback that MPI
/// runs, or from a progress call.
[[nodiscard]] inline bool is_nested() noexcept { return mine.depth > 0 || detail::in_progress_call(); }

/// Whether a call goes directly to MPI: it is nested, or there is no worker.
[[nodiscard]] inline bool goes_to_mpi() noexcept { return is_nested() || active_lanes() == nullptr; }

/// Whether a blocking call waits for the progress locks, although other threads wait for them too,
/// instead of becoming a task. The workers may be abandoned, and then no thread would complete the
/// task.
[[nodiscard]] inline bool must_block() noexcept { return current.state.load() == workers::asked; }

/// While an object exists, this thread may call MPI. With MPI_THREAD_MULTIPLE, MPICH calls
/// functions of the program with its lock locked, except attribute functions, which it calls in a
/// blocking_section. A wait in such a function is refused.
class progress_section {
public:
    progress_section() noexcept;
    progress_section(const progress_section&) = delete;
    progress_section& operator=(const progress_section&) = delete;
    ~progress_section();

private:
    detail::lane_set* lanes_;
    detail::refused_waits refused_;
};

/// Like progress_section, for calls that may block until other processes act: other threads
/// continue where MPI permits it.
class blocking_section {
public:
    blocking_section() noexcept;
    blocking_section(const blocking_section&) = delete;
    blocking_section& operator=(const blocking_section&) = delete;
    ~blocking_section();

private:
    /// Empty: other threads may call MPI at the same time.
    std::optional<progress_section> holder_;
};

/// Whether this thread may make progress: it is in a section that took the progress lock, and in no
/// progress call.
[[nodiscard]] inline bool has_lock(const detail::lane_set* lanes) noexcept {
    return lanes != nullptr && lanes->has_lock() && !detail::in_progress_call();
}

/// The lanes, for a thread that waits. Without lanes, another thread is ending the program, and no
/// task will complete; the calling thread then blocks, as it would inside MPI without commtask.
/// @return null if the lanes were abandoned: calls go directly to MPI
[[nodiscard]] inline detail::lane_set* lanes_for_waiting() noexcept {
    for (;;) {
        if (detail::lane_set* const lanes = active_lanes()) return lanes;
        if (current.state.load() == workers::abandoned) return nullptr;
        pause();
    }
}

/// Makes a call and polls it for a while, to see whether it ends soon. The thread has the progress
/// locks for a limited time in each turn. The caller is in no section.
/// @param start  bool(): false if the call may not be made here
/// @param poll  bool(): polls; whether the call has ended
enum class in_passing : std::uint8_t { refused, open, ended };
template <typename Start, typename Poll>
[[nodiscard]] in_passing start_in_passing(Start&& start, Poll&& poll) {
    for (unsigned turn = 0; turn < detail::tuning::turns_in_passing; ++turn) {
        if (turn > 0) sched_yield();
        // Before the section: no thread may sleep with the progress lock.
        detail::lane_set* const lanes = turn == 0 ? lanes_for_waiting() : active_lanes();
        // Abandoned: the call's request must not wait for ever.
        if (lanes == nullptr) return turn == 0 ? in_passing::refused : in_passing::open;
        const progress_section section;
        if (turn == 0 && !start()) return in_passing::refused;
        const unsigned n_polls = current.polls.now();
        bool is_disturbed = false;
        for (unsigned i = 1; i <= n_polls && !is_disturbed; ++i) {
            if (poll()) {
                if (turn == 0) current.polls.ended_at_poll(i);
                return in_passing::ended;
            }
            if (i % detail::tuning::steps_in_a_row == 0 && has_lock(lanes))
                lanes->progress(); // tasks of other threads do not wait for this call
            is_disturbed = lanes->has_callers();
        }
        if (!is_disturbed) current.polls.ran_out();
    }
    return in_passing::open;
}

/// The result of a call that is made in a section.
template <typename Section, typename Call>
[[nodiscard]] auto inside(Call&& call) {
    const Section section;
    return call();
}

/// Calls `note` if a call has succeeded.
/// @return the code of the call
template <typename Note>
int on_success(int code, Note&& note) {
    if (code == MPI_SUCCESS) note();
    return code;
}

/// Polls until `poll()` returns true. `poll()` may call MPI, since the thread has the progress
/// locks. The lanes make progress between polls.
template <typename Poll>
void poll_until(Poll&& poll) {
    for (unsigned i = 1;; ++i) {
        {
            const progress_section section;
            if (poll()) return;
            if (detail::lane_set* const lanes = active_lanes(); has_lock(lanes)) lanes->progress();
        }
        if (i % detail::tuning::steps_in_a_row == 0) sched_yield();
    }
}

/// Waits until `is_done()`, which reads only the state of tasks.
template <typename IsDone>
void wait_for_tasks(IsDone&& is_done) {
    if (is_done()) return;
    detail::lane_set* const lanes = lanes_for_waiting();
    if (lanes != nullptr) detail::wait_in_library(*lanes, current.waiting, -1, is_done);
    while (!is_done()) pause(); // abandoned with this task
}

/// Polls MPI once, unless `is_done()` is true already: a test must find each operation that had
/// ended when the test was called, whether the worker has seen it or not.
/// @param for_each_task  void(poll): for the tasks of the test, calls bool poll(task&), which polls
///     and returns whether the task has ended
template <typename IsDone, typename ForEachTask>
void poll_once(IsDone&& is_done, ForEachTask&& for_each_task) {
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
