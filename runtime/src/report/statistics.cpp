// SPDX-License-Identifier: Apache-2.0
//
// A step gives at most one time: the queue delay when the lane accepts a task, the time in flight
// when the task ends. All steps of one progress call use the same time. A task that was posted
// after that progress call began has a delay of 0.
#include "report/statistics.hpp"

#include "core/operation_traits.hpp"

#include <algorithm>

namespace commtask::detail {

void statistics::moved(const task& which, const life_step& step) noexcept {
    const std::uint64_t took_ns = step.at_ns - std::min(step.since_ns, step.at_ns);
    if (step.from == phase::posted) counters_.queue_delay.add(took_ns);
    if (step.end == task_state::open) return;
    const auto kind = static_cast<std::size_t>(which.op.kind);
    ++counters_.tasks[kind];
    if (step.end == task_state::failed) ++counters_.failed;
    if (step.end == task_state::canceled) ++counters_.canceled;
    if (step.to != phase::ended) return;
    counters_.in_flight.add(took_ns);
    if (step.end != task_state::completed) return;
    // The receive of a matched message counts the message, not the mprobe.
    const std::int64_t received = is_probe(operation_of(which.op.kind)) ? 0 : which.result.bytes;
    counters_.bytes[kind] += static_cast<std::uint64_t>(which.run.sent_bytes + std::max<std::int64_t>(received, 0));
}

lane_stats statistics::collected() const {
    lane_stats all = counters_;
    all.post = post_.snapshot();
    all.unblock.merge(unblock_.snapshot());
    return all;
}

} // namespace commtask::detail
