// SPDX-License-Identifier: Apache-2.0
//
// The end of plans: by the program, or by commtask_finalize for those that it left. MPI forgets their requests first, so
// that MPI_Finalize finds none.
#include "api/plan_book.hpp"

#include "core/lane.hpp"

#include <algorithm>
#include <new>

namespace commtask::detail {

bool plan_book::add(commtask_plan_s& made) noexcept {
    try {
        const std::lock_guard guard{mutex_};
        plans_.push_back(&made);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void plan_book::remove(const commtask_plan_s& released) noexcept {
    const std::lock_guard guard{mutex_};
    std::erase(plans_, &released);
}

void plan_book::destroy(commtask_plan_s& released) noexcept {
    for (plan_member& member : released) member.queue->served_by->below().forget(member);
    released.cancel_armed();
    delete &released;
}

void plan_book::forget_all() noexcept {
    const std::lock_guard guard{mutex_};
    for (commtask_plan_s* const left : plans_) {
        if (left->try_change()) destroy(*left);
    }
    plans_.clear();
}

} // namespace commtask::detail
