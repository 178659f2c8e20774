// SPDX-License-Identifier: Apache-2.0
//
// Shared by the functions that duplicate a communicator for several lanes. Tasks make the
// duplicates, so that each duplication has its place among the communicator's collectives. The
// ranks first agree on the arguments: if one rank alone were refused, the other ranks would wait
// for it.
#pragma once

#include "api/context.hpp"

#include <commtask/commtask.h>

#include <vector>

namespace commtask::detail {

/// Posts a task and waits for it.
/// @return COMMTASK_OK; COMMTASK_FAILED, and `status` has the error; or the code with which the
/// post was refused
[[nodiscard]] int run_own(const commtask_op& op, commtask_status& status) noexcept;

/// @param what  the action that failed, for the sentence "MPI could not ..."
[[nodiscard]] int refuse_failed(int error, const char* what) noexcept;

/// Collective.
/// @param mine  this rank's value of the argument that is called `name`
/// @param my_code  COMMTASK_OK, or the code, set with a sentence, with which this rank refuses its
/// own call
/// @return COMMTASK_OK if all ranks have the same value and none refuses
[[nodiscard]] int collective_agree(MPI_Comm comm, int mine, const char* name, int my_code) noexcept;

/// Collective. Makes `count` duplicates; lane i serves duplicate i. The caller asks for no more
/// duplicates than there are lanes. If MPI fails, the duplicates that were made before remain, and
/// the library does not free them. @throws std::bad_alloc
[[nodiscard]] int collective_duplicate(context& runtime, MPI_Comm comm, int count, std::vector<MPI_Comm>& made);

} // namespace commtask::detail
