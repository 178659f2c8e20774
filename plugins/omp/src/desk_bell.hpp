// SPDX-License-Identifier: Apache-2.0
//
// How a communication task of a team of one thread ends. A foreign thread must not fulfil its event (docs/adr/0015): it rings a
// desk bell, a proxy task, and the team's own thread answers. A bell is two tasks of libomp's, so an operation that ends
// before its starter has turned to something else gets none.
#pragma once

#include "kmp.hpp"

#include <omp.h>

#include <atomic>
#include <cstdint>

namespace commtask::omp {

class desk;

/// One communication task of such a team, from its start until its event is fulfilled. Its desk lends it out again and again.
class serial_start {
public:
    explicit serial_start(desk& at) noexcept : at_(&at) {}
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
    desk* at_;
    omp_event_handle_t event_{};
    std::uint32_t flags_ = 0;
};

/// For the end of a held task's body, in a team of one thread: the task can then be completed by ring_desk_bell().
[[nodiscard]] kmp_task* make_desk_bell_of_held(omp_event_handle_t event) noexcept;

/// Any thread: has the team's thread complete the task of this desk bell.
void ring_desk_bell(kmp_task* bell) noexcept;

/// The team's thread: completes the task of a bell that nobody has rung.
void answer_unrung(kmp_task* bell) noexcept;

} // namespace commtask::omp
