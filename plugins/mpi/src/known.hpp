// SPDX-License-Identifier: Apache-2.0
//
// Arguments that are certainly valid. A task's error is reported when the program waits for the
// task, but MPI reports an invalid argument at the call. A call is therefore posted only if its
// datatypes and its reduction are known to be valid. Any other call goes to MPI's nonblocking
// function on the calling thread, which reports the error or performs the operation. Valid
// arguments are kept in tables without locks: a query costs one or two loads.
#pragma once

#include <commtask/operation.h>

#include <mpi.h>

namespace commtask::interposer::known {

/// Whether all datatypes, the reduction and the buffers of the operation are known to be valid. May
/// call MPI, once per datatype and per pair of reduction and datatype.
[[nodiscard]] bool are_arguments_good(const commtask_op& op) noexcept;

[[nodiscard]] bool is_type_good(MPI_Datatype type) noexcept;
/// For reductions that combine values: not MPI_REPLACE and MPI_NO_OP.
[[nodiscard]] bool is_reduction_good(MPI_Op reduction, MPI_Datatype type) noexcept;

void type_was_committed(MPI_Datatype type) noexcept;
void type_is_freed(MPI_Datatype type) noexcept;
void operation_is_freed() noexcept;

} // namespace commtask::interposer::known
