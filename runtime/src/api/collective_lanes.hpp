// SPDX-License-Identifier: Apache-2.0
//
// What the calls share that give several lanes duplicates of a communicator. The duplicates are made by tasks, so that they keep
// their place among the communicator's collectives; the ranks first agree on what they ask for, since one that is refused
// alone would leave the others waiting.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <vector>

namespace commtask::detail {

/// Waits for a task of this call alone. @return COMMTASK_OK; COMMTASK_FAILED, and `status` says why; or why it was refused
[[nodiscard]] int run_own(const commtask_op& op, commtask_status& status) noexcept;

/// @param what  MPI could not do, for the sentence
[[nodiscard]] int refuse_failed(int error, const char* what) noexcept;

/// Collective. @param mine  this rank's value of what is called `name`; my_code: what it has to say against its own call, with a
/// sentence @return COMMTASK_OK if all ranks have the same value and nothing against it
[[nodiscard]] int collective_agree(MPI_Comm comm, int mine, const char* name, int my_code) noexcept;

/// Collective. Duplicates, each served by the lane of its place; more than there is room for are not asked for. What was made
/// before MPI failed is MPI's to free. @throws std::bad_alloc
[[nodiscard]] int collective_duplicate(context& runtime, MPI_Comm comm, int count, std::vector<MPI_Comm>& made);

} // namespace commtask::detail
