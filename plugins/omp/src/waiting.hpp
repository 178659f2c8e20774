// SPDX-License-Identifier: Apache-2.0
//
// Communication tasks whose dependences are not met: libomp has them, and the runtime does not know of them yet. They are kept
// in lists, so that a program which hangs can be told what it waits for, and where that stands in its source. A list per
// thread that makes tasks, with a lock that is nearly always free: it costs a task some tens of nanoseconds.
#pragma once

#include "errors.hpp"

#include <commtask/omp.h>
#include <commtask/unfinished.h>

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

/// How many of those that the calling thread made were waiting a moment ago.
[[nodiscard]] std::size_t approx_waiting_of_mine() noexcept;

/// The calling thread makes the task, of which `operation` is a part.
void begin_waiting(waiting_task& made, const commtask_op& operation, source_place where) noexcept;

/// Any thread, once: its dependences are met, or it is discarded.
void end_waiting(waiting_task& ended) noexcept;

/// The same for a task that is a value until it starts: it is copied, so its link lies elsewhere, for as long as it waits, with what
/// is kept of its operation. Without memory it is in no list, and nothing is kept.
void begin_waiting(commtask_omp_task& prepared) noexcept;

/// Any thread. A task that was started or dropped before is left alone.
/// @return what was kept, which the caller drops once the operation was posted; may be null
[[nodiscard]] commtask_kept_t end_waiting(const commtask_omp_task& prepared) noexcept;

} // namespace commtask::omp
