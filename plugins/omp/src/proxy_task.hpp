// SPDX-License-Identifier: Apache-2.0
//
// The end of a communication task in a team of one thread. A thread outside of the team must not
// fulfil the task's event (docs/adr/0015): it completes a proxy task, and the team's own thread
// runs the completion. Proxy task and completion are two tasks of libomp, so an operation that ends before
// its starter continues with other work gets none.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstdint>

namespace commtask::omp {

class completion_queue;

/// A communication task of such a team, from its start until its event is fulfilled. The completion
/// queue reuses the object.
class serial_start {
public:
    explicit serial_start(completion_queue& at) noexcept : at_(&at) {}
    serial_start(const serial_start&) = delete;
    serial_start& operator=(const serial_start&) = delete;

    // The team's thread ---------------------------------------------------------------------------

    /// In the body of the task that `event` completes, before the operation is posted.
    void begin(omp_event_handle_t event, std::uint32_t flags) noexcept;

    /// After the post, before any other task runs: completes the task if the operation has ended,
    /// or makes its proxy task.
    void settle() noexcept;

    /// Replaces settle() if nothing was posted: completes the task.
    void give_up() noexcept;

    // Any thread ----------------------------------------------------------------------------------

    /// The operation has ended.
    void end() noexcept;

private:
    std::atomic<kmp_task*> proxy_{nullptr}; ///< Null until settle(); has_ended() from end() on.
    completion_queue* at_;
    omp_event_handle_t event_{};
    std::uint32_t flags_ = 0;
};

/// For the end of a bound task's body, in a team of one thread: start_proxy_task() can then
/// complete the task.
[[nodiscard]] kmp_task* make_proxy_task_of_bound(omp_event_handle_t event) noexcept;

/// Any thread: lets the team's thread complete the task of this proxy task.
void start_proxy_task(kmp_task* proxy) noexcept;

/// The team's thread: completes the task of a proxy task that no thread has completed.
void complete_directly(kmp_task* proxy) noexcept;

} // namespace commtask::omp
