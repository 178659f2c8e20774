// SPDX-License-Identifier: Apache-2.0
//
// The way from any thread into a lane. It brings two kinds of tasks: posted tasks, in the order of
// their posts, and tasks of the lane that another thread has marked as released or canceled. Posted
// tasks go through a bounded ring (mpsc_ring.hpp). If the ring is full and the thread must not wait,
// its task keeps its place, and comes through a list. A thread with the progress lock that posts
// takes tasks out early, to make room.
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
    /// @param while_full  bool(), called repeatedly meanwhile; false: the task stays outside
    template <typename WhileFull>
    void put(task& posted, WhileFull&& while_full) noexcept {
        ring_.put(&posted, while_full);
    }

    /// @param on_position  called once there is room, before the task is in
    /// @return false if the ring is full; then nothing was called
    template <typename OnPosition>
    [[nodiscard]] bool try_put(task& posted, OnPosition&& on_position) noexcept {
        return ring_.try_put(&posted, on_position);
    }

    void put_without_waiting(task& posted) noexcept {
        if (!ring_.put_or_reserve(&posted, posted.ring_position)) overflow_.push(&posted);
    }

    /// Hands over a task that the lane has, once until the task is taken. The marks of the task say
    /// why.
    void push_marked(task& marked) noexcept { marked_.push(&marked); }

    /// Whether a task was posted that no thread has taken. For a thread that is about to wait: a
    /// place that is being filled counts.
    [[nodiscard]] bool has_posted() const noexcept { return ring_.has_more(); }
    [[nodiscard]] bool has_marked() const noexcept { return !marked_.is_empty(); }
    /// Tasks that has_kept() reports do not count.
    [[nodiscard]] bool is_empty() const noexcept { return !has_posted() && !has_marked(); }
    /// Whether the ring's next cell is filled: for a poll in every turn of a loop. Misses a post
    /// that is just being made.
    [[nodiscard]] bool could_take() const noexcept { return ring_.can_take(); }
    [[nodiscard]] bool could_have_any() const noexcept {
        return ring_.can_take() || !overflow_.is_empty() || !marked_.is_empty();
    }

    // With the progress lock ----------------------------------------------------------------------

    /// The posted task that comes next; null if there is none, or its place is still being filled.
    [[nodiscard]] task* take() noexcept {
        if (!early_.is_empty()) [[unlikely]]
            return early_.pop();
        return take_next();
    }
    /// All tasks that were handed over, linked by `next_marked`.
    [[nodiscard]] task* take_marked() noexcept { return marked_.take_all(); }

    /// Takes the next place out early, so that this thread, or another thread that waits for room,
    /// can go on.
    void make_room() noexcept;
    /// Gives every free cell of the ring to submitters: before the worker waits.
    void give_back_all() noexcept { ring_.give_back_all(); }

    /// Whether tasks were taken out that take() has not returned. No other thread sees these tasks.
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
    /// Tasks without a cell; each has a place in the ring.
    mpsc_list<task, &task::next_in_list> overflow_;
    mpsc_list<task, &task::next_marked> marked_;
    // With the progress lock.
    /// Tasks taken out of `overflow_`, the first place first.
    alignas(cache_line_bytes) task* next_overflow_ = nullptr;
    task_list early_;
};

} // namespace commtask::detail
