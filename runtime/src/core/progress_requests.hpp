// SPDX-License-Identifier: Apache-2.0
//
// Questions of other threads that the next progress calls of a lane answer: the list of incomplete
// tasks, and whether any task is left.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::detail {

class progress_requests {
public:
    // Any thread ----------------------------------------------------------------------------------

    /// @param heading  of the list; lives as long as the program
    void request_list(const char* heading) noexcept {
        heading_.store(heading, std::memory_order_relaxed); // relaxed: published by the next store.
        is_list_due_.store(true, std::memory_order_seq_cst);
    }
    /// Whether no progress call has written the list yet.
    [[nodiscard]] bool is_list_due() const noexcept { return is_list_due_.load(std::memory_order_seq_cst); }

    /// From now on each progress call says whether any task is left. No progress call says so
    /// before a thread asks: it would have to load the submitters' line each time, and every post
    /// would wait for that line.
    void watch_drain() noexcept {
        // seq_cst: a worker that is about to wait must see it.
        drain_.store(drain_watch::requested, std::memory_order_seq_cst);
    }
    /// After watch_drain(): whether no task was left after the last progress call.
    [[nodiscard]] bool was_drained() const noexcept { return was_drained_.load(std::memory_order_acquire); }

    /// Whether there is a question that no progress call has answered.
    [[nodiscard]] bool has_new() const noexcept {
        return is_list_due() || drain_.load(std::memory_order_seq_cst) == drain_watch::requested;
    }
    /// As has_new(), for a poll in every turn of a loop.
    [[nodiscard]] bool could_have_new() const noexcept {
        return is_list_due_.load(std::memory_order_relaxed) ||
               drain_.load(std::memory_order_relaxed) == drain_watch::requested;
    }

    // With the progress lock ----------------------------------------------------------------------

    /// Before a task is taken out: no thread must find the lane drained while a progress call is
    /// handling a task.
    void begin_call() noexcept {
        if (!was_drained_.load(std::memory_order_relaxed)) return;
        was_drained_.store(false, std::memory_order_relaxed);
        // Partner of the fence in lane::was_quiet(): a thread that sees that a task was taken out
        // also sees this store.
        std::atomic_thread_fence(std::memory_order_release);
    }

    /// Whether a progress call must answer even if it moves nothing.
    [[nodiscard]] bool are_pending() const noexcept {
        return is_list_due_.load(std::memory_order_relaxed) || is_watched();
    }
    [[nodiscard]] bool is_watched() const noexcept {
        return drain_.load(std::memory_order_relaxed) != drain_watch::none;
    }

    /// @return the heading of the list that is due; null if none is
    [[nodiscard]] const char* take_list() noexcept {
        // acquire: partner of the store in request_list(); the heading comes with it.
        if (!is_list_due_.load(std::memory_order_acquire)) return nullptr;
        is_list_due_.store(false, std::memory_order_seq_cst);
        return heading_.load(std::memory_order_relaxed);
    }

    /// Called before the progress call finds out whether a task is left.
    /// @return whether a thread has asked
    [[nodiscard]] bool begin_check() noexcept {
        // acquire: partner of the store in watch_drain(); tasks that were posted before that store
        // are seen.
        const drain_watch watch = drain_.load(std::memory_order_acquire);
        // A question that is asked between the load and the store is answered by this progress
        // call, or by the next one.
        if (watch == drain_watch::requested) drain_.store(drain_watch::active, std::memory_order_relaxed);
        return watch != drain_watch::none;
    }
    /// @return whether waiting threads must be told
    [[nodiscard]] bool set_drained(bool is_drained) noexcept {
        if (is_drained == was_drained_.load(std::memory_order_relaxed)) return false;
        // release: partner of the acquire in was_drained(); a thread that sees the answer sees the
        // effects of all tasks.
        was_drained_.store(is_drained, std::memory_order_release);
        return is_drained;
    }

private:
    enum class drain_watch : std::uint8_t {
        none, ///< No thread has asked -> watch_drain() (requested).
        /// No progress call has answered yet, so the worker must not wait -> begin_check()
        /// (active).
        requested,
        active, ///< Every progress call answers.
    };

    std::atomic<bool> is_list_due_{false};
    std::atomic<drain_watch> drain_{drain_watch::none};
    std::atomic<bool> was_drained_{false};
    std::atomic<const char*> heading_{"unfinished"};
};

} // namespace commtask::detail
