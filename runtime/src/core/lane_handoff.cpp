// SPDX-License-Identifier: Apache-2.0
//
// What other threads have to say about a task that its lane has: a predecessor is done, somebody wants it canceled, its members
// on another lane have ended. Several may say something at once: the first one hands the task in, for all of them.
#include "core/lane.hpp"
#include "core/task_pool.hpp"

namespace commtask::detail {

void lane::hand_over(task& which, std::uint32_t mark) noexcept {
    // The slot must last until the driver has taken it out of the handoff, whatever its holder does meanwhile.
    which.life.take_reference();
    // acq_rel: partner of the same in take_handed(). Two causes may come at once: the first gives the task.
    const std::uint32_t before = which.marks.fetch_or(mark | mark_handed_off, std::memory_order_acq_rel);
    if ((before & mark_handed_off) != 0) {
        task_pool::drop(&which);
        return;
    }
    submitted_.hand_over(which);
    if (!try_issue_here()) wake_up.wake();
}

void lane::take_handed() noexcept {
    for (task* which = submitted_.take_handed(); which != nullptr;) {
        task* const next = which->next_handed;
        // Cleared before acting: whoever marks it afterwards gives it again.
        const std::uint32_t marks = which->marks.fetch_and(
            ~std::uint32_t{mark_handed_off | mark_released | mark_members_ended}, std::memory_order_acq_rel);
        if ((marks & mark_released) != 0) on_released(*which);
        if ((marks & mark_cancel) != 0) on_cancel(*which);
        // A poster may be the one who looks, and ends nothing.
        // A run that was given up has ended without them.
        const bool tells_a_run = (marks & mark_members_ended) != 0 && is_live(*which);
        if (tells_a_run && --which->run.open_parts == 0) ended_at_once_.push(*which);
        task_pool::drop(which);
        which = next;
    }
}

} // namespace commtask::detail
