// SPDX-License-Identifier: Apache-2.0
//
// What a thread needs that waits in the library instead of in libomp. In a team of one thread bells (docs/adr/0020) lie
// in libomp's queue until the thread waits for something; the desk counts them, so that it can wait for just them. And
// events that the thread itself ends while it drives the lane wait until the pass is over: to fulfil one may run tasks of
// the user, and not inside a callback, where the whole lane stands still.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace commtask::omp {

/// One per OpenMP thread and nesting level that ever needed one: each region has a queue of its own.
class desk {
public:
    /// The calling thread's, in the region that it runs; made on first use and never destroyed, since a task may outlive
    /// the thread that made it.
    static desk& mine();

    /// Runs the answers of all bells that were rung for the calling thread, and what they release. A thread that has no desk here
    /// has none, and needs none.
    static void run_my_answers() noexcept;

    // Any thread ------------------------------------------------------------------------------------------------------

    /// Rings a bell whose answer will run on the desk's thread: completes its task in libomp's queue, where that thread
    /// finds it when it next waits.
    void ring(kmp_task* bell) noexcept {
        // release: partner of note_answered(). libomp's queue orders the two as well, but tells no tool of it, and without
        // this a race checker takes every result for unordered.
        n_rung_.fetch_add(1, std::memory_order_release);
        __kmpc_proxy_task_completed_ooo(bell);
    }

    // The desk's thread --------------------------------------------------------------------------------------------------

    /// An answer begins to run. Once for every ring().
    /// @return whether no rung bell is left: the answer calls end_waits() when it has done all it has to.
    [[nodiscard]] bool note_answered() noexcept;

    /// Lets run_my_answers() return.
    void end_waits() noexcept;

private:
    desk() = default;
    void run_answers() noexcept;

    std::atomic<std::size_t> n_rung_{0};   ///< And not answered.
    std::vector<kmp_task*> when_answered_; ///< Proxy tasks to be completed when no rung bell is left.
};

/// As long as it lives the calling thread may drive the lane, and events that it ends there are kept; the outermost one
/// fulfils them, and counts their tasks as ended, when it goes.
class driving_scope {
public:
    driving_scope() noexcept;
    driving_scope(const driving_scope&) = delete;
    driving_scope& operator=(const driving_scope&) = delete;
    ~driving_scope();

    /// Keeps an event for the end of the calling thread's scope.
    /// @return false if it has none, or no memory.
    [[nodiscard]] static bool try_keep(omp_event_handle_t event) noexcept;

private:
    driving_scope* const outer_;
    std::vector<omp_event_handle_t> kept_;
};

} // namespace commtask::omp
