// SPDX-License-Identifier: Apache-2.0
//
// The settings and observers of a lane.
#pragma once

#include "core/incomplete_tasks.hpp"
#include "core/node_observer.hpp"
#include "core/observer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace commtask::detail {

/// The observers outlive the lane. Null, or an empty list: nothing is reported.
struct lane_settings {
    std::size_t queue_capacity = 4096;
    std::uint64_t callback_limit_ns = 0; ///< 0: no limit.
    bool warns = true;                   ///< Whether the lane may write warnings to stderr.
    bool has_heavy_barrier = false;
    /// The worker shares its core: a submitter starts its operation itself if the progress lock is
    /// free.
    bool submitters_start = false;
    std::vector<task_observer*> observers{}; ///< Called for every step of every task.
    failure_sink* failures = nullptr;        ///< Called for tasks that fail or are canceled.
    /// Called when a thread changes its activity on the lane.
    activity_observer* activities = nullptr;
    /// Rings the doorbells of the node's other ranks.
    node_observer* node = nullptr;
    /// The doorbell of this lane's worker; only with `node`.
    std::atomic<std::uint32_t>* doorbell = nullptr;
    std::uint8_t number = 0; ///< The number in the set of lanes.
    /// The number of lanes in the set.
    std::uint8_t n_lanes = 1;
    /// Tasks that a front end has not posted yet: for lists of incomplete tasks.
    not_submitted elsewhere{};
};

} // namespace commtask::detail
