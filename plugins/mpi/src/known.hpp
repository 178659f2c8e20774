// SPDX-License-Identifier: Apache-2.0
//
// Arguments that are right for sure. A task's error shows when it is waited for, but MPI reports a wrong argument at the
// call; so a call is posted only if its datatypes and its reduction are known to be good, and else goes to the MPI's own
// nonblocking function where it was made, which says what is wrong, or does it. What is known is kept in tables without
// locks: a look at one costs a load or two.
#pragma once

#include <commtask/operation.h>

#include <mpi.h>

namespace commtask::interposer::known {

/// Whether all datatypes, the reduction and the buffers of the operation are known to be good. May ask MPI, once per
/// datatype and per pair of reduction and datatype.
[[nodiscard]] bool are_arguments_good(const commtask_op& op) noexcept;

[[nodiscard]] bool is_type_good(MPI_Datatype type) noexcept;
/// Of reductions that combine: not MPI_REPLACE and MPI_NO_OP.
[[nodiscard]] bool is_reduction_good(MPI_Op reduction, MPI_Datatype type) noexcept;

void type_was_committed(MPI_Datatype type) noexcept;
void type_is_freed(MPI_Datatype type) noexcept;
void operation_is_freed() noexcept;

} // namespace commtask::interposer::known
