// SPDX-License-Identifier: Apache-2.0
//
// Posts that are recorded instead of done: what commtask_post needs to know of it.
// The price is the look at a variable of the thread in every post.
#pragma once

#include "core/lane.hpp"
#include "core/operation_traits.hpp"
#include "core/plan.hpp"

#include <commtask/commtask.h>

#include <cstdint>
#include <utility>

namespace commtask::detail {

class context;

/// The plan that the calling thread records; one that does not has none.
inline thread_local constinit commtask_plan_s* recorded_here = nullptr;
/// Whether its posts are for that plan. Those of callbacks that it runs meanwhile, because it drives, are not.
[[nodiscard]] inline bool is_recording() noexcept {
    return recorded_here != nullptr && recorded_here->is_recorded_in_progress_call == in_progress_call();
}

/// While one of these lives, the thread's posts are posts.
class pause_recording {
public:
    pause_recording() noexcept : before_(std::exchange(recorded_here, nullptr)) {}
    pause_recording(const pause_recording&) = delete;
    pause_recording& operator=(const pause_recording&) = delete;
    ~pause_recording() { recorded_here = before_; }

private:
    commtask_plan_s* const before_;
};

/// A post on a thread that records.
[[nodiscard]] int record(context& runtime, const commtask_op& op, const commtask_options* options,
                         commtask_t* task_out) noexcept;

/// Somebody wants to start or change a plan that is running, or that was recorded before commtask_finalize.
[[nodiscard]] int refuse_running(const plan& busy) noexcept;

} // namespace commtask::detail
