// SPDX-License-Identifier: Apache-2.0
//
// Ends tasks of a lane that do not complete by themselves. With the progress lock.
#pragma once

#include "core/incomplete_tasks.hpp"
#include "core/progress_engine.hpp"

namespace commtask::detail {

class finalizer {
public:
    finalizer(progress_engine& engine, submission_queue& submitted, scheduler& scheduled,
              const progress_requests& requests, const incomplete_tasks& incomplete)
        : engine_(engine), submitted_(submitted), scheduled_(scheduled), requests_(requests), incomplete_(incomplete) {}

    /// Whether a progress call would still move one of these tasks. Submitted tasks are left to
    /// that call; tasks in flight are polled here.
    [[nodiscard]] bool could_still_move(task_filter chosen) noexcept;

    /// Ends incomplete tasks: tasks that have not started are canceled, the others are given up.
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
