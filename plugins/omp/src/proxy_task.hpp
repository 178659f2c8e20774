// SPDX-License-Identifier: Apache-2.0
//
// The end of a communication task in a team of one thread. A thread outside of the team must not
// fulfil the task's event (docs/adr/0015): it completes a proxy task, and the team's own thread
// runs the completion task. Proxy task and completion task are two tasks of libomp, and are not
// made for an operation that ends before its starter continues.
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

    /// Called in the body of the task that `event` completes, before the operation is posted.
    void begin(omp_event_handle_t event, std::uint32_t flags) noexcept;

    /// Called after the post, before any other task runs: completes the task if the operation has
    /// ended, otherwise makes its proxy task.
    void settle() noexcept;

    /// Called instead of settle() if nothing was posted: completes the task.
    void give_up() noexcept;

    // Any thread ----------------------------------------------------------------------------------

    /// Called when the operation has ended.
    void end() noexcept;

private:
    std::atomic<kmp_task*> proxy_{nullptr}; ///< Null until settle(); has_ended() after end().
    completion_queue* at_;
    omp_event_handle_t event_{};
    std::uint32_t flags_ = 0;
};

/// For the end of a bound task's body, in a team of one thread: start_proxy_task() can then
/// complete the task.
[[nodiscard]] kmp_task* make_proxy_task_of_bound(omp_event_handle_t event) noexcept;

/// Any thread: completes the proxy task, so that the team's thread completes the task of `event`.
void start_proxy_task(kmp_task* proxy) noexcept;

/// The team's thread: completes the task of a proxy task that no thread has completed.
void complete_directly(kmp_task* proxy) noexcept;

} // namespace commtask::omp
