// SPDX-License-Identifier: Apache-2.0
//
// Observers of a lane. Statistics and traces observe the steps in every task's life: posted,
// waiting, ready, in flight, ended. Without observers, a step costs one branch. With observers, a
// progress call that moves something reads the clock once, so the steps of one call have one time.
// Callbacks are timed separately, with or without observers (callback_guard.hpp).
#pragma once

#include "core/task.hpp"
#include "core/trace_record.hpp"

#include <cstdint>

namespace commtask::detail {

/// One step of a task.
struct life_step {
    phase from;
    phase to;
    task_state end; ///< How the task ended, if `to` is final; otherwise open.
    /// When the task came into `from`; for a posted task, when it was posted.
    std::uint64_t since_ns;
    std::uint64_t at_ns;
};

class task_observer {
public:
    /// Called with the lane's progress lock, in the order of the steps; must not block. The task is
    /// still open: its result is set if `step.to` is final.
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
    /// Any thread, about itself. A call with the current activity does nothing.
    virtual void thread_does(std::uint8_t lane, activity now) noexcept = 0;

protected:
    ~activity_observer() = default;
};

/// Is told of tasks that do not complete, with the lane's progress lock.
class failure_sink {
public:
    /// Before the task's callback. The callback finds the message in commtask_last_error().
    virtual void before_callback(const task& which, task_state how) noexcept = 0;
    /// After the callback, and before the task's successors are released. Does not return if the
    /// program's error handler ends the job.
    virtual void after_callback() noexcept = 0;

protected:
    ~failure_sink() = default;
};

} // namespace commtask::detail
