// SPDX-License-Identifier: Apache-2.0
//
// OpenMP tasks in a trace of COMMTASK_TRACE, from the events of an OMPT tool (tool.hpp).
#pragma once

namespace commtask::omp::tracing {

/// Prints once if there is a trace but another tool receives the task events.
void warn_if_shut_out() noexcept;

} // namespace commtask::omp::tracing
