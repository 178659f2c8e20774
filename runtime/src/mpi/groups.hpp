// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a group's processes in a communicator. Groups that the library gets from MPI are
// freed by their owner.
#pragma once

#include <mpi.h>

#include <vector>

namespace commtask::detail {

class own_group {
public:
    own_group() noexcept = default;
    own_group(const own_group&) = delete;
    own_group& operator=(const own_group&) = delete;
    ~own_group() {
        if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
    }
    MPI_Group group = MPI_GROUP_NULL;
};

/// @param ranks  for each rank of the group, its rank in the communicator's own group;
/// MPI_UNDEFINED if it has none. The vector's memory is reused.
/// @return false if MPI returns an error, for example for a freed group. @throws std::bad_alloc
[[nodiscard]] bool read_ranks_in(MPI_Comm comm, MPI_Group group, std::vector<int>& ranks);

} // namespace commtask::detail
