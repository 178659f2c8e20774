// SPDX-License-Identifier: Apache-2.0
//
// A process has one OMPT tool. This library's tool forwards task events to up to three receivers in
// turn: the task records (task_records.hpp), the trace (COMMTASK_TRACE), and the tool that libomp
// would have started otherwise, for example Archer. If there is another tool and no trace was
// requested, this library is no tool.
#pragma once

#include <atomic>
#include <cstdint>

#include <omp-tools.h>

namespace commtask::omp {

/// A receiver of task events: one function per event, or null.
struct tool_events {
    ompt_callback_implicit_task_t implicit_task = nullptr;
    ompt_callback_task_create_t task_create = nullptr;
    ompt_callback_task_schedule_t task_schedule = nullptr;
    ompt_callback_sync_region_t sync_region = nullptr;
    ompt_callback_task_dependence_t task_dependence = nullptr;
};

namespace check {
[[nodiscard]] bool is_asked_for() noexcept; ///< From the first task on.
[[nodiscard]] bool is_off() noexcept;
} // namespace check

namespace records {
/// @return false if libomp does not provide the events that the records need
[[nodiscard]] bool begin(ompt_function_lookup_t lookup, tool_events& events) noexcept;

/// Called while libomp starts: no taskgroup is open, and the tool receives the events of all later
/// taskgroups.
void count_groups() noexcept;
} // namespace records

namespace tracing {
[[nodiscard]] bool is_asked_for() noexcept;
/// @param keeps_data  whether another tool stores its own data in a task's ompt_data_t, so that
///                    there are no records
void begin(bool keeps_data, tool_events& events) noexcept;
} // namespace tracing

} // namespace commtask::omp
