// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's tasks in a trace of COMMTASK_TRACE, as an OMPT tool hears of them (tool.hpp). For the rest of the library that is
// one question.
#pragma once

namespace commtask::omp::tracing {

/// Says once, where it is so, that there is a trace and another tool has the place from which to hear of tasks.
void complain_if_shut_out() noexcept;

} // namespace commtask::omp::tracing
