// SPDX-License-Identifier: Apache-2.0
//
// Lists of communication tasks whose dependences are not met: libomp has these tasks, and the
// runtime does not know them yet. The lists show which operations a hanging program waits for, and
// where they are in its source. One list per thread that creates tasks, with a mutex that is nearly
// always free: some tens of nanoseconds per task.
#pragma once

#include "errors.hpp"

#include <commtask/frontend.h>
#include <commtask/omp.h>

#include <cstddef>
#include <cstdint>

namespace commtask::omp {

class waiting_list;

/// A link of such a list, inside the task.
struct waiting_task {
    const commtask_op* operation;
    source_place where;
    std::uint64_t since_ns;
    waiting_list* of;
    waiting_task* previous;
    waiting_task* next;
};

/// How many tasks created by the calling thread were waiting a moment ago.
[[nodiscard]] std::size_t approx_waiting_of_mine() noexcept;

/// The calling thread creates the task that contains `operation`.
void begin_waiting(waiting_task& made, const commtask_op& operation, source_place where) noexcept;

/// Any thread, once: the dependences are met, or the task is discarded.
void end_waiting(waiting_task& ended) noexcept;

/// For a prepared task, which is a value until it starts. The value can be copied, so its link is a
/// separate object while it waits, with the references that its operation keeps. If memory is
/// exhausted the task is in no list, and no references are kept.
void begin_waiting(commtask_omp_task& prepared) noexcept;

/// Any thread. Has no effect on a task that was started or dropped before.
/// @return the kept references, which the caller drops after the operation was posted; may be null
[[nodiscard]] commtask_retained_t end_waiting(const commtask_omp_task& prepared) noexcept;

} // namespace commtask::omp
