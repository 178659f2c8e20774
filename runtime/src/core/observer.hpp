// SPDX-License-Identifier: Apache-2.0
//
// Observers of a lane. Statistics and traces observe the steps in every task's life: posted, waiting, ready, in flight, ended. A lane
// without observers pays one branch a step; one with them reads the clock once in a progress call that moves something, so steps of one
// call have one time. Callbacks are timed apart from that, observed or not (callback_guard.hpp).
#pragma once

#include "core/task.hpp"
#include "core/trace_record.hpp"

#include <cstdint>

namespace commtask::detail {

/// One step of a task.
struct life_step {
    phase from;
    phase to;
    task_state end;         ///< How it ended, if `to` is final; otherwise open.
    std::uint64_t since_ns; ///< When it came into `from`; of a posted task, when it was posted.
    std::uint64_t at_ns;
};

class task_observer {
public:
    /// Called with the lane's progress lock, in the order of the steps; must not block. The task is still open: its result is set
    /// if `step.to` is final.
    virtual void moved(const task& which, const life_step& step) noexcept = 0;

protected:
    ~task_observer() = default;
};

/// Activities of a thread on a lane: poll, issue, callback, idle, …
using activity = trace::thread_state;

class activity_observer {
public:
    /// The calling thread is the worker of a lane. Called before its first activity.
    virtual void begin_worker(int lane) noexcept = 0;
    /// Any thread, about itself. Called again with the same activity it does nothing.
    virtual void thread_does(std::uint8_t lane, activity now) noexcept = 0;

protected:
    ~activity_observer() = default;
};

/// Is told of tasks that do not complete, with the lane's progress lock.
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
