// SPDX-License-Identifier: Apache-2.0
//
// Who is told of the steps in every task's life: posted, ready, issued, completed, successor started. Statistics are one
// observer. A lane without observers pays one branch a step; one with them reads the clock once in a pass that moves
// something, so steps of one pass have one time. Callbacks are timed apart from that, observed or not (callback_guard.hpp).
#pragma once

#include "core/task.hpp"

#include <cstdint>

namespace commtask::detail {

/// One step: what lane::move() was asked for.
struct life_step {
    phase from;
    phase to;
    task_state end;         ///< How it ended, if `to` is final; otherwise open.
    std::uint64_t since_ns; ///< When it came into `from`; of a posted task, when it was posted.
    std::uint64_t at_ns;
};

class task_observer {
public:
    /// The driver of the task's lane, in the order of the steps; must not block. The task is still open: its result is set
    /// if `step.to` is final.
    virtual void moved(const task& which, const life_step& step) noexcept = 0;

protected:
    ~task_observer() = default;
};

} // namespace commtask::detail
