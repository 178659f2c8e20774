// SPDX-License-Identifier: Apache-2.0
//
// Observers of a lane: statistics and traces are informed of every step of a task (posted, waiting,
// ready, in flight, ended). Without observers, a step costs one branch. With observers, a progress
// call that changes a task reads the clock once, so all steps of one call have one time. Callbacks
// are timed separately (callback_guard.hpp).
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
    /// The time at which the task reached `from`; for a posted task, the time of the post.
    std::uint64_t since_ns;
    std::uint64_t at_ns;
};

class task_observer {
public:
    /// Called with the lane's progress lock, in the order of the steps; must not block. The state
    /// of the task is still `open`; its result is set if `step.to` is final.
    virtual void moved(const task& which, const life_step& step) noexcept = 0;

protected:
    ~task_observer() = default;
};

/// A thread's activity on a lane.
using activity = trace::thread_state;

class activity_observer {
public:
    /// Declares the calling thread the worker of a lane, before its first activity.
    virtual void begin_worker(int lane) noexcept = 0;
    /// Any thread. Records its own activity; a call with the current activity does nothing.
    virtual void thread_does(std::uint8_t lane, activity now) noexcept = 0;

protected:
    ~activity_observer() = default;
};

/// Receives the tasks that fail or are canceled. Called with the lane's progress lock.
class failure_sink {
public:
    /// Called before the task's callback, which can read the message by commtask_last_error().
    virtual void before_callback(const task& which, task_state how) noexcept = 0;
    /// Called after the callback, and before the task's successors are released. Does not return if
    /// the program's error handler ends the job.
    virtual void after_callback() noexcept = 0;

protected:
    ~failure_sink() = default;
};

} // namespace commtask::detail
