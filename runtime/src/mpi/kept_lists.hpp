// SPDX-License-Identifier: Apache-2.0
//
// An operation has lists of the program by reference: ranks, counts, displacements, datatypes. A program that changes one too early
// would send to wrong ranks in silence, so short ones are copied into the task's room. Longer ones are the program's, as in
// MPI; with COMMTASK_CHECK=1 they are copied too, and compared when the operation has ended.
#pragma once

#include "core/comm_queue.hpp"
#include "core/task.hpp"
#include "mpi/counts.hpp"

#include <cstddef>

namespace commtask::detail {

/// Lists of up to so many entries are copied.
inline constexpr int longest_copied_list = 16;

/// How many entries the arrays of an operation have on this rank, without those that MPI does not read. MPI is not asked.
[[nodiscard]] array_lengths list_lengths(const commtask_op& op, const comm_queue& queue) noexcept;

/// The submitter: a task that has its operation gets room for `n_types` kept datatypes, and copies of its lists.
/// @param notes_long  COMMTASK_CHECK=1
/// @return false without memory
[[nodiscard]] bool keep_lists(task& made, std::size_t n_types, bool notes_long) noexcept;

/// A driver, of a task with noted lists that has ended. Says what the program has changed.
/// @return whether it has changed one
[[nodiscard]] bool has_changed_lists(const task& ended) noexcept;

} // namespace commtask::detail
