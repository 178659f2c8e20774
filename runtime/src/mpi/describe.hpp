// SPDX-License-Identifier: Apache-2.0
//
// The text of an operation in MPI's terms, for all messages about tasks that failed, were refused,
// or are not complete. Since all messages use the same text, a user can find a listed operation in
// a message about its failure.
#pragma once

#include "core/task.hpp"

#include <commtask/operation.h>

#include <string>

namespace commtask::detail {

/// "send of 3 MPI_INT to rank 5, tag 7", without its communicator.
/// @param may_ask_mpi  whether the calling thread may query MPI for the name of the datatype
[[nodiscard]] std::string describe(const commtask_op& op, bool may_ask_mpi);

/// ", created at halo.c:50"; "" if that is not known.
[[nodiscard]] std::string describe(source_location created_at);

} // namespace commtask::detail
