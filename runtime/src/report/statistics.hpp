// SPDX-License-Identifier: Apache-2.0
//
// What COMMTASK_STATS=1 counts: an observer of its lane's tasks. What the driver sees goes into plain words, since one
// thread drives at a time; what posting and waiting threads measure goes through relaxed atomics.
#pragma once

#include "core/counters.hpp"
#include "core/observer.hpp"

#include <cstdint>

namespace commtask::detail {

class statistics final : public task_observer {
public:
    void moved(const task& which, const life_step& step) noexcept override;

    /// Any thread: how long a post took it.
    void add_post(std::uint64_t took_ns) noexcept { post_.add(took_ns); }

    /// Any thread that waited for a task, when it goes on: how long after the end.
    void add_unblock(std::uint64_t took_ns) noexcept { unblock_.add(took_ns); }

    /// The worker's own counters.
    [[nodiscard]] lane_stats& counters() noexcept { return counters_; }

    /// All of it. Once nothing runs any more, exactly.
    [[nodiscard]] lane_stats collected() const;

private:
    lane_stats counters_;
    shared_time_distribution post_;
    shared_time_distribution unblock_;
};

} // namespace commtask::detail
