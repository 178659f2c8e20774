// SPDX-License-Identifier: Apache-2.0
// Whether a run fits into memory, asked before anything is allocated. The ranks of a node share what it has, so their needs
// are summed up there: each alone may fit where all together bring the machine to its knees.
#pragma once

#include <mpi.h>

#include <string>

namespace miniapp {

/// What one rank will allocate.
struct memory_need {
    double bytes = 0;
    std::string of;     ///< Who needs it, as the user wrote it: "lattice 8.8.8.16".
    std::string advice; ///< What to do when it is too much: "use more nodes or a smaller lattice".
};

/// Bytes that this node can still give: the kernel's estimate, or what is left to a container if that is less.
double available_memory_bytes();

/// Bytes that this process may still add to its address space (`ulimit -v`); infinite where nothing is set.
double address_space_left_bytes();

/// "12.3 GB".
std::string bytes_text(double bytes);

/// Collective over `comm`. The refusal, the same on all ranks, when the ranks of some node need more together than
/// `available_bytes` says there; empty when all fit.
std::string refuse_memory(const memory_need& need, double available_bytes, MPI_Comm comm);

/// For a rank whose allocation failed: what it needed and what there is.
std::string out_of_memory(const memory_need& need);

} // namespace miniapp
