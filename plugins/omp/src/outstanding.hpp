// SPDX-License-Identifier: Apache-2.0
//
// How many communication tasks were made and how many of them have ended, so that a thread can wait for all. Two
// counters on lines of their own: threads that make tasks do not disturb the worker that ends them.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::omp {

class outstanding {
public:
    /// One for the process, as there is one OpenMP runtime for it.
    static outstanding& of_process() noexcept {
        static constinit outstanding the_outstanding;
        return the_outstanding;
    }

    /// Before a task can end.
    void note_made() noexcept { made_.fetch_add(1, std::memory_order_relaxed); }

    /// Once for each task that was made, however it ended. Release: partner of are_at_most_open().
    void note_ended() noexcept { ended_.fetch_add(1, std::memory_order_release); }

    [[nodiscard]] std::uint64_t n_ended() const noexcept { return ended_.load(std::memory_order_relaxed); }

    /// Whether at most `limit` of the tasks whose making happened before this call have not ended. One that was given up
    /// twice only makes the answer "yes" too early.
    [[nodiscard]] bool are_at_most_open(std::uint64_t limit) const noexcept {
        // First the ended ones: a task that is made between the two loads makes the answer "no", never a wrong "yes".
        const std::uint64_t ended = ended_.load(std::memory_order_acquire);
        const std::uint64_t made = made_.load(std::memory_order_relaxed);
        return made <= ended || made - ended <= limit;
    }

private:
    alignas(64) std::atomic<std::uint64_t> made_{0};
    alignas(64) std::atomic<std::uint64_t> ended_{0};
};

} // namespace commtask::omp
