// SPDX-License-Identifier: Apache-2.0
//
// The data of a thread that waits in this library instead of in libomp. In a team of one thread,
// completed proxy tasks (docs/adr/0015) stay in libomp's queue until the thread waits; the
// completion queue counts them, so that the thread can wait for exactly these. Events that the
// thread itself ends in a progress call are fulfilled after the call, and so are its own proxy
// tasks: fulfilling may run user tasks, which must not run inside a callback, while the whole lane
// is blocked.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace commtask::omp {

class serial_start;

/// One per OpenMP thread and nesting level that needed one, so each region has its own.
class completion_queue {
public:
    /// The calling thread's queue in the current region; created on first use and never destroyed,
    /// since a task may outlive the thread that created it.
    static completion_queue& mine();

    /// Runs the completion tasks of all completed proxy tasks of the calling thread, and the tasks
    /// that they release. Does nothing on a thread without a completion queue in this region.
    static void run_my_completions() noexcept;

    /// The queue for run_my_completions(); null if it was not created yet.
    [[nodiscard]] static completion_queue* mine_if_any() noexcept;

    // Any thread ----------------------------------------------------------------------------------

    /// Completes a proxy task whose completion task runs on the queue's thread. The proxy task goes
    /// to libomp's queue, where that thread finds it in its next wait. If the caller is that thread
    /// inside a progress call, and calls run_my_completions() after it, libomp is not involved.
    void complete_proxy(kmp_task* proxy) noexcept;

    // The completion queue's thread ---------------------------------------------------------------

    /// Returns an object for a communication task that starts.
    /// @return null if memory is exhausted.
    [[nodiscard]] serial_start* take_start() noexcept;
    void give_back(serial_start& ended) noexcept { idle_starts_.push_back(&ended); } // take_start() reserves

    /// A completion task begins to run. Called once for each complete_through_libomp().
    /// @return whether no completed proxy task is left; the completion task then calls
    ///         complete_waiters() as its last step.
    [[nodiscard]] bool begin_completion() noexcept;

    /// Lets run_my_completions() return.
    void complete_waiters() noexcept;

private:
    completion_queue() = default;
    void run_completions() noexcept;
    void complete_through_libomp(kmp_task* proxy) noexcept;

    /// Completed proxy tasks whose completion task has not begun.
    std::atomic<std::size_t> n_completed_{0};
    std::vector<kmp_task*> waiters_; ///< Proxy tasks that complete_waiters() completes.
    /// Proxy tasks that this thread completes directly; libomp does not know of them.
    std::vector<kmp_task*> own_;
    std::vector<std::unique_ptr<serial_start>> starts_;
    std::vector<serial_start*> idle_starts_;
};

/// While an object exists, the calling thread may make progress, and events that the thread ends
/// are deferred. The destructor of the outermost scope fulfils them, and decrements the outstanding
/// count. Reason: in a team of several threads whose task queue is full (256 tasks), libomp runs a
/// dependent inside a fulfilment. A dependent that waits for another deferred event would wait for
/// ever.
class progress_scope {
public:
    /// @param next_queue  the completion queue whose run_my_completions() the thread calls next;
    /// null:
    ///                    none.
    explicit progress_scope(completion_queue* next_queue = nullptr) noexcept;
    progress_scope(const progress_scope&) = delete;
    progress_scope& operator=(const progress_scope&) = delete;
    ~progress_scope();

    /// Defers an event until the end of the calling thread's scope.
    /// @return false if there is no scope, or memory is exhausted.
    [[nodiscard]] static bool try_defer(omp_event_handle_t event) noexcept;

    /// Whether the calling thread is in a scope, and will call run_my_completions() of `which`
    /// after it.
    [[nodiscard]] static bool will_run_completions_of(const completion_queue& which) noexcept;

private:
    progress_scope* const outer_;
    completion_queue* const next_queue_;
    std::vector<omp_event_handle_t> deferred_;
};

} // namespace commtask::omp
