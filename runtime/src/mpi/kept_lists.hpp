// SPDX-License-Identifier: Apache-2.0
//
// An operation refers to lists of the program: ranks, counts, displacements, datatypes. If a
// program changes a list too early, MPI silently uses wrong ranks, so the library copies lists into
// the task's memory: lists of multicast and many_to_many at any length, since each entry starts a
// message, which costs far more than the copy, and lists of collectives up to a length. Longer lists
// of collectives must not change until the operation ends, as in MPI. With COMMTASK_CHECK=1 the
// library copies them too, and compares them when the operation has ended.
#pragma once

#include "core/comm_queue.hpp"
#include "core/task.hpp"
#include "mpi/counts.hpp"

#include <cstddef>

namespace commtask::detail {

/// Lists of collectives are copied if they have at most this many entries.
inline constexpr int longest_copied_list = 16;

/// The numbers of entries of an operation's arrays on this rank, without arrays that MPI does not
/// read. Calls no MPI function.
[[nodiscard]] array_lengths list_lengths(const commtask_op& op, const comm_queue& queue) noexcept;

/// For the submitter: allocates a task's memory for `n_types` kept datatypes, and copies its
/// operation's lists.
/// @param copies_long  also copies longer lists, for COMMTASK_CHECK=1
/// @return false if memory is exhausted
[[nodiscard]] bool keep_lists(task& made, std::size_t n_types, bool copies_long) noexcept;

/// With the progress lock, for an ended task with copies of long lists. Prints which list the
/// program has changed.
/// @return whether it has changed one
[[nodiscard]] bool has_changed_lists(const task& ended) noexcept;

} // namespace commtask::detail
