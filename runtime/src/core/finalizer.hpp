// SPDX-License-Identifier: Apache-2.0
//
// Ends tasks of a lane that will not complete by themselves. All functions need the progress lock.
#pragma once

#include "core/incomplete_tasks.hpp"
#include "core/progress_engine.hpp"

namespace commtask::detail {

class finalizer {
public:
    finalizer(progress_engine& engine, submission_queue& submitted, scheduler& scheduled,
              const progress_requests& requests, const incomplete_tasks& incomplete)
        : engine_(engine), submitted_(submitted), scheduled_(scheduled), requests_(requests), incomplete_(incomplete) {}

    /// Whether a progress call can still change one of these tasks. Polls the tasks in flight;
    /// submitted tasks are left to the progress call.
    [[nodiscard]] bool could_still_move(task_filter chosen) noexcept;

    /// Ends incomplete tasks: cancels tasks that have not started, and abandons tasks in flight.
    /// Their callbacks may post.
    void abandon(task_filter chosen) noexcept;

private:
    progress_engine& engine_;
    submission_queue& submitted_;
    scheduler& scheduled_;
    const progress_requests& requests_;
    const incomplete_tasks& incomplete_;
};

} // namespace commtask::detail
