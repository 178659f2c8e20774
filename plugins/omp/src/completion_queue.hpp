// SPDX-License-Identifier: Apache-2.0
//
// What a thread needs that waits in the library instead of in libomp. In a team of one thread bells (docs/adr/0015) lie
// in libomp's queue until the thread waits for something; the completion queue counts them, so that it can wait for just them. And
// events that the thread itself ends while it drives the lane wait until the pass is over, as do its own bells: to fulfil one may
// run tasks of the user, and not inside a callback, where the whole lane stands still.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace commtask::omp {

class serial_start;

/// One per OpenMP thread and nesting level that ever needed one: each region has a queue of its own.
class completion_queue {
public:
    /// The calling thread's, in the region that it runs; made on first use and never destroyed, since a task may outlive
    /// the thread that made it.
    static completion_queue& mine();

    /// Runs the answers of all bells that were rung for the calling thread, and what they release. A thread that has no completion queue here
    /// has none, and needs none.
    static void run_my_answers() noexcept;

    /// The one for run_my_answers(); null: there is none yet.
    [[nodiscard]] static completion_queue* if_mine() noexcept;

    // Any thread ------------------------------------------------------------------------------------------------------

    /// Rings a bell whose answer will run on the completion queue's thread: completes its task in libomp's queue, where that thread
    /// finds it when it next waits. If it is that thread itself, which drives and will run its answers, libomp need not know.
    void ring(kmp_task* bell) noexcept;

    // The completion queue's thread --------------------------------------------------------------------------------------------------

    /// For a communication task that starts.
    /// @return null: there is no memory.
    [[nodiscard]] serial_start* lend_start() noexcept;
    void give_back(serial_start& ended) noexcept { idle_starts_.push_back(&ended); } // lend_start() made room

    /// An answer begins to run. Once for every ring().
    /// @return whether no rung bell is left: the answer calls end_waits() when it has done all it has to.
    [[nodiscard]] bool note_answered() noexcept;

    /// Lets run_my_answers() return.
    void end_waits() noexcept;

private:
    completion_queue() = default;
    void run_answers() noexcept;
    void ring_through_queue(kmp_task* bell) noexcept;

    std::atomic<std::size_t> n_rung_{0};   ///< And not answered.
    std::vector<kmp_task*> when_answered_; ///< Proxy tasks to be completed when no rung bell is left.
    std::vector<kmp_task*> own_;           ///< Bells that this thread is to answer; libomp does not know of them.
    std::vector<std::unique_ptr<serial_start>> starts_;
    std::vector<serial_start*> idle_starts_;
};

/// As long as it lives the calling thread may drive the lane, and events that it ends there are kept; the outermost one
/// fulfils them, and counts their tasks as ended, when it goes. In a team of several threads whose queue is full (256 tasks), libomp runs
/// a dependent inside a fulfilment: a dependent that waits for another of these events there would wait for ever.
class driving_scope {
public:
    /// @param answered_next  the completion queue whose run_my_answers() the thread calls next; null: none.
    explicit driving_scope(completion_queue* answered_next = nullptr) noexcept;
    driving_scope(const driving_scope&) = delete;
    driving_scope& operator=(const driving_scope&) = delete;
    ~driving_scope();

    /// Keeps an event for the end of the calling thread's scope.
    /// @return false if it has none, or no memory.
    [[nodiscard]] static bool try_keep(omp_event_handle_t event) noexcept;

    /// Whether the calling thread is in a scope, and runs the answers of `which` after it.
    [[nodiscard]] static bool is_before_answers_of(const completion_queue& which) noexcept;

private:
    driving_scope* const outer_;
    completion_queue* const answered_next_;
    std::vector<omp_event_handle_t> kept_;
};

} // namespace commtask::omp
