// SPDX-License-Identifier: Apache-2.0
//
// OpenMP has one tool in a process. This library's is made of up to three that hear of tasks one after the other: the records
// of tasks (task_records.hpp), the trace (COMMTASK_TRACE), and the one that libomp would have taken in its stead, Archer for
// one. Where the other is there and no trace was asked for, this library is no tool.
#pragma once

#include <atomic>
#include <cstdint>

#include <omp-tools.h>

namespace commtask::omp {

/// What hears of OpenMP's tasks: one function per event, null where it does not care.
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
/// @return false if libomp does not tell what the records need
[[nodiscard]] bool begin(ompt_function_lookup_t lookup, tool_events& events) noexcept;

/// While libomp starts: no taskgroup is open, and the events hear of all that follow.
void count_groups() noexcept;
} // namespace records

namespace tracing {
[[nodiscard]] bool is_asked_for() noexcept;
/// @param keeps_data  whether another tool keeps its own in a task's ompt_data_t, so that there are no records
void begin(bool keeps_data, tool_events& events) noexcept;
} // namespace tracing

} // namespace commtask::omp
