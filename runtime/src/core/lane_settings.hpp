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

/// The observers outlast the lane. With null, or an empty list, nothing is reported.
struct lane_settings {
    std::size_t queue_capacity = 4096;
    std::uint64_t callback_limit_ns = 0; ///< 0: no limit.
    bool warns = true;                   ///< May write warnings to stderr.
    bool has_heavy_barrier = false;
    /// The worker shares its core: a submitter that finds the progress lock free starts its
    /// operation itself.
    bool submitters_start = false;
    std::vector<task_observer*> observers{}; ///< Told of every step of every task.
    failure_sink* failures = nullptr;        ///< Told of tasks that do not complete.
    /// Told which activities threads do for the lane.
    activity_observer* activities = nullptr;
    /// Rings the doorbells of the node's other ranks.
    node_observer* node = nullptr;
    std::atomic<std::uint32_t>* doorbell = nullptr; ///< Of this lane's worker, with `node`.
    std::uint8_t number = 0;                        ///< Among the lanes of its set.
    /// Of its set: lists name the lane if there are several.
    std::uint8_t n_lanes = 1;
    /// Tasks of a front end that it has not submitted yet, for lists.
    not_submitted elsewhere{};
};

} // namespace commtask::detail
