// SPDX-License-Identifier: Apache-2.0
//
// An operation refers to lists of the program: ranks, counts, displacements, datatypes. A program
// that changes a list too early would send to wrong ranks silently, so the library copies lists into
// the task's memory: those of multicast and many_to_many at any length, since each entry starts a
// message that costs far more, and those of collectives up to a length. Longer lists of collectives
// stay the program's, as in MPI. With COMMTASK_CHECK=1 the library copies them too, and compares them
// when the operation has ended.
#pragma once

#include "core/comm_queue.hpp"
#include "core/task.hpp"
#include "mpi/counts.hpp"

#include <cstddef>

namespace commtask::detail {

/// Lists of collectives are copied if they have at most this many entries.
inline constexpr int longest_copied_list = 16;

/// How many entries the arrays of an operation have on this rank, without arrays that MPI does not
/// read. Calls no MPI function.
[[nodiscard]] array_lengths list_lengths(const commtask_op& op, const comm_queue& queue) noexcept;

/// For the submitter: gives a task with its operation memory for `n_types` kept datatypes, and
/// copies of its lists.
/// @param notes_long  also copies longer lists, for COMMTASK_CHECK=1
/// @return false without memory
[[nodiscard]] bool keep_lists(task& made, std::size_t n_types, bool notes_long) noexcept;

/// With the progress lock, for an ended task with copies of long lists. Prints which list the
/// program has changed.
/// @return whether it has changed one
[[nodiscard]] bool has_changed_lists(const task& ended) noexcept;

} // namespace commtask::detail
