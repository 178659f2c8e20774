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

/// Is told of tasks that do not complete, by the driver of the task's lane. What it says in between costs others nothing.
class failure_sink {
public:
    /// Before the task's callback, which finds the sentence in commtask_last_error().
    virtual void before_callback(const task& which, task_state how) noexcept = 0;
    /// After it, and before the task's successors. Does not come back where the program's error handler ends the job.
    virtual void after_callback() noexcept = 0;

protected:
    ~failure_sink() = default;
};

} // namespace commtask::detail
