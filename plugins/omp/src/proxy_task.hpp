// SPDX-License-Identifier: Apache-2.0
//
// How a communication task of a team of one thread ends. A foreign thread must not fulfil its event (docs/adr/0015): it rings a
// completion queue bell, a proxy task, and the team's own thread answers. A bell is two tasks of libomp's, so an operation that ends
// before its starter has turned to something else gets none.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstdint>

namespace commtask::omp {

class completion_queue;

/// One communication task of such a team, from its start until its event is fulfilled. Its completion queue lends it out again and again.
class serial_start {
public:
    explicit serial_start(completion_queue& at) noexcept : at_(&at) {}
    serial_start(const serial_start&) = delete;
    serial_start& operator=(const serial_start&) = delete;

    // The team's thread --------------------------------------------------------------------------------------------------

    /// In the body of the task that `event` completes, before the operation is posted.
    void begin(omp_event_handle_t event, std::uint32_t flags) noexcept;

    /// After the post, before any other task runs: completes the task if the operation has ended, or makes its bell.
    void settle() noexcept;

    /// Instead of settle(), when nothing was posted: completes the task.
    void give_up() noexcept;

    // Any thread ---------------------------------------------------------------------------------------------------------

    /// The operation has ended.
    void end() noexcept;

private:
    std::atomic<kmp_task*> bell_{nullptr}; ///< Null until settle(); has_ended() from end() on.
    completion_queue* at_;
    omp_event_handle_t event_{};
    std::uint32_t flags_ = 0;
};

/// For the end of a held task's body, in a team of one thread: the task can then be completed by start_proxy_task().
[[nodiscard]] kmp_task* make_proxy_task_of_bound(omp_event_handle_t event) noexcept;

/// Any thread: has the team's thread complete the task of this completion queue bell.
void start_proxy_task(kmp_task* bell) noexcept;

/// The team's thread: completes the task of a bell that nobody has rung.
void answer_unrung(kmp_task* bell) noexcept;

} // namespace commtask::omp
