// SPDX-License-Identifier: Apache-2.0
//
// The counters of COMMTASK_STATS=1: an observer of its lane's tasks. The progress thread increments
// plain integers, since a lane has one progress thread at a time; posting and waiting threads
// increment relaxed atomics.
#pragma once

#include "core/counters.hpp"
#include "core/observer.hpp"

#include <cstdint>

namespace commtask::detail {

class statistics final : public task_observer {
public:
    void moved(const task& which, const life_step& step) noexcept override;

    /// Any thread: the duration of its post.
    void add_post(std::uint64_t took_ns) noexcept { post_.add(took_ns); }

    /// Any thread that waited for a task, when it continues: the time since the task's end.
    void add_unblock(std::uint64_t took_ns) noexcept { unblock_.add(took_ns); }

    /// The worker's own counters.
    [[nodiscard]] lane_stats& counters() noexcept { return counters_; }

    /// All counters. Exact when no task runs any more.
    [[nodiscard]] lane_stats collected() const;

private:
    lane_stats counters_;
    shared_time_distribution post_;
    shared_time_distribution unblock_;
};

} // namespace commtask::detail
