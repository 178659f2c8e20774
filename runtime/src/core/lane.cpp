// SPDX-License-Identifier: Apache-2.0
#include "core/lane.hpp"

#include <cstdio>

namespace commtask::detail {

lane::lane(transport& carrier, wait_queue& waiters, const lane_settings& settings)
    : settings_(settings), wake_up(settings.has_heavy_barrier, settings.doorbell),
      submitted(settings.queue_capacity, settings.has_heavy_barrier),
      scheduled(carrier, settings.observers, settings.number),
      incomplete(scheduled, carrier, settings.elsewhere, settings.n_lanes),
      engine(carrier, submitted, scheduled, requests, incomplete, waiters, settings),
      ending(engine, submitted, scheduled, requests, incomplete) {}

bool lane::was_quiet() const noexcept {
    if (has_arrivals()) return false;
    // Partner of the fence in progress_requests::begin_call().
    std::atomic_thread_fence(std::memory_order_acquire);
    return requests.was_drained();
}

std::array<char, 32> lane::worker_text() const noexcept {
    std::array<char, 32> text{"the worker"};
    if (settings_.n_lanes > 1) std::snprintf(text.data(), text.size(), "the worker of lane %u", unsigned{number()});
    return text;
}

void release_to_its_lane(task& successor) noexcept { successor.queue->served_by->released(successor); }

} // namespace commtask::detail
