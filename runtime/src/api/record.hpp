// SPDX-License-Identifier: Apache-2.0
//
// Recording of posts: the interface for commtask_post. Every post costs one load of a thread-local
// variable.
#pragma once

#include "core/lane.hpp"
#include "core/operation_traits.hpp"
#include "core/plan.hpp"

#include <commtask/commtask.h>

#include <cstdint>
#include <utility>

namespace commtask::detail {

class context;

/// The plan that the calling thread records, or null.
inline thread_local constinit commtask_plan_s* recorded_here = nullptr;
/// Whether the thread's posts go into that plan. Posts of callbacks, which the thread may run while
/// it makes progress, do not.
[[nodiscard]] inline bool is_recording() noexcept {
    return recorded_here != nullptr && recorded_here->is_recorded_in_progress_call == in_progress_call();
}

/// While an object of this class lives, the thread's posts are not recorded.
class pause_recording {
public:
    pause_recording() noexcept : before_(std::exchange(recorded_here, nullptr)) {}
    pause_recording(const pause_recording&) = delete;
    pause_recording& operator=(const pause_recording&) = delete;
    ~pause_recording() { recorded_here = before_; }

private:
    commtask_plan_s* const before_;
};

/// Records a post of a thread that records.
[[nodiscard]] int record(context& runtime, const commtask_op& op, const commtask_options* options,
                         commtask_t* task_out) noexcept;

/// Refuses to start or change a plan that is running, or that was recorded before
/// commtask_finalize.
[[nodiscard]] int refuse_running(const plan& busy) noexcept;

} // namespace commtask::detail
