// SPDX-License-Identifier: Apache-2.0
//
// The data of a thread that waits in this library instead of in libomp. In a team of one thread,
// completed proxy tasks (docs/adr/0015) stay in libomp's queue until the thread waits; the
// completion queue counts them, so that the thread can wait for these only. Events that the thread
// itself ends in a progress call are fulfilled after the call, and so are its own proxy tasks: a
// fulfilment may run tasks of the user, which must not run inside a callback, where the whole lane
// stands still.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace commtask::omp {

class serial_start;

/// One per OpenMP thread and nesting level that needed one: each region has a queue of its own.
class completion_queue {
public:
    /// The calling thread's queue in the current region; made on first use and never destroyed,
    /// since a task may outlive the thread that created it.
    static completion_queue& mine();

    /// Runs the answers to all completed proxy tasks of the calling thread, and the tasks that they
    /// release. Does nothing on a thread without a completion queue in this region.
    static void run_my_completions() noexcept;

    /// The queue for run_my_completions(); null: there is none yet.
    [[nodiscard]] static completion_queue* mine_if_any() noexcept;

    // Any thread ----------------------------------------------------------------------------------

    /// Completes a proxy task whose answer runs on the completion queue's thread. The proxy task
    /// goes to libomp's queue, where that thread finds it at its next wait. If the caller is that
    /// thread inside a progress call, and will run its answers, libomp need not know.
    void complete_proxy(kmp_task* proxy) noexcept;

    // The completion queue's thread ---------------------------------------------------------------

    /// Returns an object for a communication task that starts.
    /// @return null: there is no memory.
    [[nodiscard]] serial_start* take_start() noexcept;
    void give_back(serial_start& ended) noexcept { idle_starts_.push_back(&ended); } // take_start() reserves

    /// An answer begins to run. Called once for each complete_proxy().
    /// @return whether no completed proxy task is left: then the answer calls complete_waiters() as its
    ///         last step.
    [[nodiscard]] bool begin_completion() noexcept;

    /// Lets run_my_completions() return.
    void complete_waiters() noexcept;

private:
    completion_queue() = default;
    void run_completions() noexcept;
    void complete_through_libomp(kmp_task* proxy) noexcept;

    std::atomic<std::size_t> n_completed_{0}; ///< Completed proxy tasks without an answer yet.
    std::vector<kmp_task*> waiters_;          ///< Proxy tasks that complete_waiters() completes.
    std::vector<kmp_task*> own_;              ///< Proxy tasks that this thread answers itself; libomp does
                                              ///< not know of them.
    std::vector<std::unique_ptr<serial_start>> starts_;
    std::vector<serial_start*> idle_starts_;
};

/// While it lives, the calling thread may make progress, and events that the thread ends are
/// stored. The outermost scope fulfils them, and removes their tasks from the outstanding count, in
/// its destructor. In a team of several threads whose queue is full (256 tasks), libomp runs a
/// dependent inside a fulfilment: there, a dependent that waits for another stored event would wait
/// for ever.
class progress_scope {
public:
    /// @param next_queue  the completion queue whose run_my_completions() the thread calls next;
    ///                       null: none.
    explicit progress_scope(completion_queue* next_queue = nullptr) noexcept;
    progress_scope(const progress_scope&) = delete;
    progress_scope& operator=(const progress_scope&) = delete;
    ~progress_scope();

    /// Stores an event until the end of the calling thread's scope.
    /// @return false if there is no scope, or no memory.
    [[nodiscard]] static bool try_defer(omp_event_handle_t event) noexcept;

    /// Whether the calling thread is in a scope, and runs the answers of `which` after it.
    [[nodiscard]] static bool will_run_completions_of(const completion_queue& which) noexcept;

private:
    progress_scope* const outer_;
    completion_queue* const next_queue_;
    std::vector<omp_event_handle_t> deferred_;
};

} // namespace commtask::omp
