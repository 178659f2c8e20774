// SPDX-License-Identifier: Apache-2.0
//
// The queue from all threads to a lane. Two kinds of tasks go through it: posted tasks, in the
// order of their posts, and accepted tasks that another thread has released or canceled. Posted
// tasks go through a bounded ring (mpsc_ring.hpp). If the ring is full and the submitter must not
// wait, the task reserves its position and goes to an overflow list. A thread with the progress
// lock that posts into a full ring moves tasks out of the ring to free a cell.
#pragma once

#include "core/mpsc_list.hpp"
#include "core/mpsc_ring.hpp"
#include "core/task.hpp"
#include "core/task_list.hpp"

#include <cstddef>

namespace commtask::detail {

class submission_queue {
public:
    /// @param capacity  the capacity of the ring; a power of two
    /// @param has_heavy_barrier  see register_heavy_barrier()
    submission_queue(std::size_t capacity, bool has_heavy_barrier) : ring_(capacity, has_heavy_barrier) {}

    // Any thread ----------------------------------------------------------------------------------

    /// Waits while the ring is full.
    /// @param while_full  bool(), called repeatedly while the ring is full; false: the task is not
    /// put
    template <typename WhileFull>
    void put(task& posted, WhileFull&& while_full) noexcept {
        ring_.put(&posted, while_full);
    }

    /// @param on_position  called once a cell is reserved, before the task is visible
    /// @return false if the ring is full; then `on_position` was not called
    template <typename OnPosition>
    [[nodiscard]] bool try_put(task& posted, OnPosition&& on_position) noexcept {
        return ring_.try_put(&posted, on_position);
    }

    void put_without_waiting(task& posted) noexcept {
        if (!ring_.put_or_reserve(&posted, posted.ring_position)) overflow_.push(&posted);
    }

    /// Adds an accepted task whose marks have changed, once until take_marked() returns it. The
    /// marks say why.
    void push_marked(task& marked) noexcept { marked_.push(&marked); }

    /// Whether a posted task was not taken. Also true while a submitter is still filling its cell,
    /// so that the worker does not block.
    [[nodiscard]] bool has_posted() const noexcept { return ring_.has_more(); }
    [[nodiscard]] bool has_marked() const noexcept { return !marked_.is_empty(); }
    /// Ignores the tasks that has_kept() reports.
    [[nodiscard]] bool is_empty() const noexcept { return !has_posted() && !has_marked(); }
    /// Whether the ring's next cell is filled. Cheap, for polling loops; may miss a post in
    /// progress.
    [[nodiscard]] bool could_take() const noexcept { return ring_.can_take(); }
    [[nodiscard]] bool could_have_any() const noexcept {
        return ring_.can_take() || !overflow_.is_empty() || !marked_.is_empty();
    }

    // With the progress lock ----------------------------------------------------------------------

    /// The next posted task; null if there is none, or if its cell is not filled yet.
    [[nodiscard]] task* take() noexcept {
        if (!early_.is_empty()) [[unlikely]]
            return early_.pop();
        return take_next();
    }
    /// All marked tasks, linked by `next_marked`.
    [[nodiscard]] task* take_marked() noexcept { return marked_.take_all(); }

    /// Takes the next task out of the ring early, so that a thread that waits for a free cell can
    /// continue.
    void make_room() noexcept;
    /// Makes all free cells available to submitters. Called before the worker waits.
    void publish_free_cells() noexcept { ring_.publish_free_cells(); }

    /// Whether tasks were taken out of the ring or the overflow list, and not yet returned by
    /// take(). Only the thread with the progress lock sees these tasks.
    [[nodiscard]] bool has_kept() const noexcept { return !early_.is_empty() || next_overflow_ != nullptr; }
    [[nodiscard]] bool has_early() const noexcept { return !early_.is_empty(); }

private:
    [[nodiscard]] task* take_next() noexcept {
        task* const posted = ring_.take();
        if (posted == nullptr && (next_overflow_ != nullptr || !overflow_.is_empty())) [[unlikely]]
            return take_overflow();
        return posted;
    }
    [[nodiscard]] task* take_overflow() noexcept;

    mpsc_ring<task> ring_;
    /// Tasks for which the ring had no cell; each has a reserved position.
    mpsc_list<task, &task::next_in_list> overflow_;
    mpsc_list<task, &task::next_marked> marked_;
    // With the progress lock.
    /// Tasks taken out of `overflow_`, sorted by position.
    alignas(cache_line_bytes) task* next_overflow_ = nullptr;
    task_list early_;
};

} // namespace commtask::detail
