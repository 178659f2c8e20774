// SPDX-License-Identifier: Apache-2.0
//
// From an operation to an OpenMP event: posts the operation so that its end fulfils the event. Used by the detach bridge
// and by the tasks that the library creates itself.
#pragma once

#include <commtask/omp.h>

#include <cstdint>

namespace commtask::omp {

/// Whether an operation takes its place in the communicator's order when its task is created.
[[nodiscard]] bool is_ordered(const commtask_op& operation, std::uint32_t flags) noexcept;

/// Posts an operation from inside the task that `event` completes, and sees to it that the event is fulfilled whatever
/// happens. Refusals are reported; a ticket that could not be used is given up.
int start(const commtask_op& operation, const commtask_omp_options& options, omp_event_handle_t event) noexcept;

} // namespace commtask::omp
