// SPDX-License-Identifier: Apache-2.0
#include "core/finalizer.hpp"

#include <atomic>

namespace commtask::detail {

bool finalizer::could_still_move(task_filter chosen) noexcept {
    const auto has_arrivals = [this] { return !submitted_.is_empty() || requests_.has_new(); };
    if (has_arrivals() || submitted_.has_early() || engine_.has_ended_at_once()) return true;
    const incomplete_tasks::counts before = incomplete_.count(chosen);
    if (before.ready > 0) return true;
    if (engine_.below().in_flight() == 0) return false;
    {
        const progress_engine::call_scope here{engine_};
        engine_.poll_all();
    }
    const incomplete_tasks::counts after = incomplete_.count(chosen);
    return after.all != before.all || after.ready > 0 || has_arrivals();
}

void finalizer::abandon(task_filter chosen) noexcept {
    const progress_engine::call_scope here{engine_};
    // Visits the slots twice, since a list would need memory. The next progress call accepts the
    // tasks that callbacks post.
    scheduled_.for_each_live([&](task& which) {
        if (!chosen(which) || which.run.now == phase::in_flight) return;
        // relaxed: only this thread reads the mark.
        which.marks.fetch_or(mark_cancel, std::memory_order_relaxed);
        scheduled_.cancel(which);
    });
    engine_.start_ready();
    scheduled_.for_each_live([&](task& which) {
        // A ready task was canceled by a callback, and ends in start_ready().
        if (!chosen(which) || which.run.now == phase::ready) return;
        engine_.abandon_task(which);
    });
    engine_.start_ready();
}

} // namespace commtask::detail
