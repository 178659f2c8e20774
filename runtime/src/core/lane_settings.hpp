// SPDX-License-Identifier: Apache-2.0
//
// The settings and observers that a lane is made with.
#pragma once

#include "core/incomplete_tasks.hpp"
#include "core/node_observer.hpp"
#include "core/observer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace commtask::detail {

/// Observers outlast the lane; null, or none: nothing is told.
struct lane_settings {
    std::size_t queue_capacity = 4096;
    std::uint64_t callback_limit_ns = 0; ///< 0: no limit.
    bool warns = true;                   ///< May write warnings to stderr.
    bool has_heavy_barrier = false;
    bool submitters_start =
        false; ///< The worker shares its core: a submitter that finds the progress lock free starts its operation.
    std::vector<task_observer*> observers{};        ///< Told of every step of every task.
    failure_sink* failures = nullptr;               ///< Told of tasks that do not complete.
    activity_observer* activities = nullptr;        ///< Told what threads do for the lane.
    node_observer* node = nullptr;                  ///< Rings the doorbells of the node's other ranks.
    std::atomic<std::uint32_t>* doorbell = nullptr; ///< Of this lane's worker, with `node`.
    std::uint8_t number = 0;                        ///< Among the lanes of its set.
    std::uint8_t n_lanes = 1;                       ///< Of its set: lists name the lane if there are several.
    not_submitted elsewhere{};                      ///< Tasks of a front end that it has not submitted yet, for lists.
};

} // namespace commtask::detail
