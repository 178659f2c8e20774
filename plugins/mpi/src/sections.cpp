// SPDX-License-Identifier: Apache-2.0
#include "sections.hpp"

#include "api/context.hpp"
#include "base/float_modes.hpp"
#include "base/tuning.hpp"

namespace commtask::interposer {
namespace {

void add_blocked_outside(int by) noexcept {
    detail::lane_set* const lanes = active_lanes();
    if (lanes == nullptr) return;
    for (detail::lane& each : *lanes) each.engine.lock.add_blocked_outside(by);
}

} // namespace

progress_section::progress_section() noexcept
    : lanes_(active_lanes()), refused_(current.has_thread_multiple && mine.depth == 0) {
    ++mine.depth;
    if (lanes_ == nullptr || mine.depth > 1 || detail::in_progress_call()) {
        lanes_ = nullptr;
        return;
    }
    detail::reductions_in_flight::caller_has(detail::modes_of_this_thread());
    if (lanes_->acquire_all_locks()) {
        for (detail::lane& each : *lanes_) each.engine.accept_and_start();
    } else {
        lanes_ = nullptr; // abandoned: from here on, calls go directly to MPI
    }
}

progress_section::~progress_section() {
    if (lanes_ == nullptr) {
        --mine.depth;
        return;
    }
    // External callers take precedence over progress threads, so threads that call MPI in a
    // loop would keep all tasks from ending.
    if (lanes_->has_work() && ++mine.n_sections % detail::tuning::calls_between_progress == 0) lanes_->progress();
    --mine.depth;
    for (detail::lane& each : *lanes_) {
        const bool leaves_work = each.engine.has_work() || each.has_arrivals();
        each.engine.thread_does(detail::activity::none);
        each.engine.lock.release();
        if (leaves_work) each.wake_up.wake_from_long_wait();
    }
}

blocking_section::blocking_section() noexcept {
    if (mine.depth > 0 || !current.has_thread_multiple || active_lanes() == nullptr) {
        holder_.emplace();
        return;
    }
    { const progress_section issues_posted; }
    ++mine.depth;
    add_blocked_outside(1);
}

blocking_section::~blocking_section() {
    if (holder_) return;
    --mine.depth;
    add_blocked_outside(-1);
}

} // namespace commtask::interposer
