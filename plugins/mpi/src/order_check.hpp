// SPDX-License-Identifier: Apache-2.0
//
// COMMTASK_MPI_CHECK=1: each rank records the collectives of each communicator in the order of its
// calls. The ranks compare their records where all ranks of the communicator synchronize anyway: in
// MPI_Comm_free, MPI_Comm_disconnect and MPI_Finalize. Nothing is exchanged before, since an
// exchange inside a call that need not wait could deadlock a correct program.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace commtask::interposer {

/// Written by generate.py: the names of the collectives by number.
extern const char* const collective_names[];

namespace order_check {

inline constinit bool is_on = false; ///< Set by MPI_Init.

/// Reads the environment.
void initialize();

/// Any thread. Also records a call that goes directly to MPI because this rank's worker was
/// abandoned, since the other ranks record theirs. A nested call (is_nested()) is not recorded.
void add(MPI_Comm comm, std::uint32_t collective, int root);
inline void note(MPI_Comm comm, std::uint32_t collective, int root) {
    if (is_on) add(comm, collective, root);
}

/// Collective, except in a nested call, where it does nothing. Prints the first difference to
/// stderr, and deletes the record of the communicator.
void compare(MPI_Comm comm);

} // namespace order_check
} // namespace commtask::interposer
