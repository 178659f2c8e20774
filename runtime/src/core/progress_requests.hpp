// SPDX-License-Identifier: Apache-2.0
//
// Requests of other threads to the progress thread of a lane: print the list of incomplete tasks,
// and report after each progress call whether any task is incomplete.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::detail {

class progress_requests {
public:
    // Any thread ----------------------------------------------------------------------------------

    /// @param heading  the heading of the list; valid as long as the program
    void request_list(const char* heading) noexcept {
        heading_.store(heading, std::memory_order_relaxed); // relaxed: published by the next store.
        is_list_due_.store(true, std::memory_order_seq_cst);
    }
    /// Whether the list was requested and not printed yet.
    [[nodiscard]] bool is_list_due() const noexcept { return is_list_due_.load(std::memory_order_seq_cst); }

    /// From now on, each progress call reports whether a task is incomplete. Before that, no
    /// progress call does so: it would have to load the submitters' line each time, and every post
    /// would wait for that line.
    void watch_drain() noexcept {
        // seq_cst: a worker that is about to wait must see the request.
        drain_.store(drain_watch::requested, std::memory_order_seq_cst);
    }
    /// After watch_drain(): whether no task was incomplete after the last progress call.
    [[nodiscard]] bool was_drained() const noexcept { return was_drained_.load(std::memory_order_acquire); }

    /// Whether a request was not handled by a progress call yet.
    [[nodiscard]] bool has_new() const noexcept {
        return is_list_due() || drain_.load(std::memory_order_seq_cst) == drain_watch::requested;
    }
    /// As has_new(), but cheap, for polling loops.
    [[nodiscard]] bool could_have_new() const noexcept {
        return is_list_due_.load(std::memory_order_relaxed) ||
               drain_.load(std::memory_order_relaxed) == drain_watch::requested;
    }

    // With the progress lock ----------------------------------------------------------------------

    /// Called before a task is taken out of the queue: no thread must find the lane drained while a
    /// progress call handles a task.
    void begin_call() noexcept {
        if (!was_drained_.load(std::memory_order_relaxed)) return;
        was_drained_.store(false, std::memory_order_relaxed);
        // Partner of the fence in lane::was_quiet(): a thread that sees that a task was taken out
        // also sees this store.
        std::atomic_thread_fence(std::memory_order_release);
    }

    /// Whether a progress call must handle a request even if it has nothing else to do.
    [[nodiscard]] bool are_pending() const noexcept {
        return is_list_due_.load(std::memory_order_relaxed) || is_watched();
    }
    [[nodiscard]] bool is_watched() const noexcept {
        return drain_.load(std::memory_order_relaxed) != drain_watch::none;
    }

    /// @return the heading of the requested list; null if none was requested
    [[nodiscard]] const char* take_list() noexcept {
        // acquire: partner of the store in request_list(); publishes the heading.
        if (!is_list_due_.load(std::memory_order_acquire)) return nullptr;
        is_list_due_.store(false, std::memory_order_seq_cst);
        return heading_.load(std::memory_order_relaxed);
    }

    /// Called before the progress call checks whether a task is incomplete.
    /// @return whether watch_drain() was called
    [[nodiscard]] bool begin_check() noexcept {
        // acquire: partner of the store in watch_drain(); tasks that were posted before that store
        // are visible.
        const drain_watch watch = drain_.load(std::memory_order_acquire);
        // A request between the load and the store is handled by this progress call or the next
        // one.
        if (watch == drain_watch::requested) drain_.store(drain_watch::active, std::memory_order_relaxed);
        return watch != drain_watch::none;
    }
    /// @return whether waiting threads must be notified
    [[nodiscard]] bool set_drained(bool is_drained) noexcept {
        if (is_drained == was_drained_.load(std::memory_order_relaxed)) return false;
        // release: partner of the acquire in was_drained(); what all tasks wrote is visible.
        was_drained_.store(is_drained, std::memory_order_release);
        return is_drained;
    }

private:
    enum class drain_watch : std::uint8_t {
        none, ///< Not requested -> watch_drain() (requested).
        /// Requested; the worker must not block before a progress call has reported ->
        /// begin_check() (active).
        requested,
        active, ///< Every progress call reports.
    };

    std::atomic<bool> is_list_due_{false};
    std::atomic<drain_watch> drain_{drain_watch::none};
    std::atomic<bool> was_drained_{false};
    std::atomic<const char*> heading_{"unfinished"};
};

} // namespace commtask::detail
