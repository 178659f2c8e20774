// SPDX-License-Identifier: Apache-2.0
//
// Counts communication tasks that were created and that have ended, so that a thread can wait for
// all. The two counters have cache lines of their own, so that threads that create tasks do not
// slow down the worker that ends tasks.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::omp {

class outstanding {
public:
    /// One for the process, which has one OpenMP runtime.
    static outstanding& of_process() noexcept {
        static constinit outstanding the_outstanding;
        return the_outstanding;
    }

    /// Called before the task can end.
    void note_made() noexcept { made_.fetch_add(1, std::memory_order_relaxed); }

    /// Called once for each created task, however it ended. release: partner of are_at_most_open().
    void note_ended() noexcept { ended_.fetch_add(1, std::memory_order_release); }

    [[nodiscard]] std::uint64_t n_ended() const noexcept { return ended_.load(std::memory_order_relaxed); }

    /// Whether at most `limit` of the tasks created before this call have not ended. May return
    /// true too early if a task was counted as ended twice.
    [[nodiscard]] bool are_at_most_open(std::uint64_t limit) const noexcept {
        // The ended tasks are read first: a task created between the two loads makes the result
        // false, never wrongly true.
        const std::uint64_t ended = ended_.load(std::memory_order_acquire);
        const std::uint64_t made = made_.load(std::memory_order_relaxed);
        return made <= ended || made - ended <= limit;
    }

private:
    alignas(64) std::atomic<std::uint64_t> made_{0};
    alignas(64) std::atomic<std::uint64_t> ended_{0};
};

} // namespace commtask::omp
