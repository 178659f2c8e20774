// SPDX-License-Identifier: Apache-2.0
//
// COMMTASK_MPI_CHECK=1: each rank notes the collectives of each communicator in the order of its calls, and where all ranks of the
// communicator meet anyway, in MPI_Comm_free, MPI_Comm_disconnect and MPI_Finalize, they compare. Nothing is exchanged before,
// since an exchange inside a call that need not wait could deadlock a program that is right.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace commtask::interposer {

/// Written by generate.py: the names of the collectives, by their number.
extern const char* const collective_names[];

namespace order_check {

inline constinit bool is_on = false; ///< Set by MPI_Init.

/// Reads the environment.
void initialize();

/// Any thread. Also of a call that is MPI's own because this rank's worker was left behind: the other ranks note theirs. What comes
/// from below is nobody's call.
void add(MPI_Comm comm, std::uint32_t collective, int root);
inline void note(MPI_Comm comm, std::uint32_t collective, int root) {
    if (is_on) add(comm, collective, root);
}

/// Collective, but from below, where it does nothing. Names the first difference on stderr, and forgets the communicator.
void compare(MPI_Comm comm);

} // namespace order_check
} // namespace commtask::interposer
