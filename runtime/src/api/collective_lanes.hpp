// SPDX-License-Identifier: Apache-2.0
//
// Shared by the functions that duplicate a communicator for several lanes. Tasks make the
// duplicates, so that each duplication has its position among the communicator's collectives. The
// ranks agree on the arguments first: if a single rank refused its call, the other ranks would wait
// for it.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <vector>

namespace commtask::detail {

/// Posts a task and waits for it.
/// @return COMMTASK_OK; COMMTASK_FAILED, and `status` has the error; or the error code of the post
[[nodiscard]] int run_own(const commtask_op& op, commtask_status& status) noexcept;

/// @param what  the action that failed, for the error message "MPI could not ..."
[[nodiscard]] int refuse_failed(int error, const char* what) noexcept;

/// Collective.
/// @param mine  this rank's value of the argument that is called `name`
/// @param my_code  COMMTASK_OK, or the error code with which this rank refuses its call; its
/// message is set
/// @return COMMTASK_OK if all ranks have the same value and no rank refuses
[[nodiscard]] int collective_agree(MPI_Comm comm, int mine, const char* name, int my_code) noexcept;

/// Collective. Makes `count` duplicates, at most one per lane; lane i serves duplicate i. If MPI
/// fails, the duplicates that were made before remain, and the library does not free them. @throws
/// std::bad_alloc
[[nodiscard]] int collective_duplicate(context& runtime, MPI_Comm comm, int count, std::vector<MPI_Comm>& made);

} // namespace commtask::detail
