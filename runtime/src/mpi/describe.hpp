// SPDX-License-Identifier: Apache-2.0
//
// The text of an operation, in the terms of MPI, for all sentences about tasks that failed, were
// refused, or are not complete. One text for all sentences lets a user find a listed operation in a
// sentence about its failure.
#pragma once

#include "core/task.hpp"

#include <commtask/operation.h>

#include <string>

namespace commtask::detail {

/// "send of 3 MPI_INT to rank 5, tag 7", without its communicator.
/// @param may_ask_mpi  whether the calling thread may call MPI, which has the name of the datatype
[[nodiscard]] std::string describe(const commtask_op& op, bool may_ask_mpi);

/// ", created at halo.c:50"; "" if that is not known.
[[nodiscard]] std::string describe(source_location created_at);

} // namespace commtask::detail
