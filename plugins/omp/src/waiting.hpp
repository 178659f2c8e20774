// SPDX-License-Identifier: Apache-2.0
//
// Lists of communication tasks whose dependences are not met: libomp has these tasks, and the
// runtime does not know them yet. With the lists, a program that hangs can be told which operations
// wait, and where they are in its source. One list per thread that creates tasks, with a lock that
// is nearly always free: some tens of nanoseconds per task.
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
/// separate object while it waits, with the kept data of its operation. Without memory the task is
/// in no list, and nothing is kept.
void begin_waiting(commtask_omp_task& prepared) noexcept;

/// Any thread. A task that was started or dropped before is not changed.
/// @return the kept data, which the caller drops after the operation was posted; may be null
[[nodiscard]] commtask_retained_t end_waiting(const commtask_omp_task& prepared) noexcept;

} // namespace commtask::omp
