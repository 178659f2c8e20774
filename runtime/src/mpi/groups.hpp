// SPDX-License-Identifier: Apache-2.0
//
// Where the ranks of a group are in a communicator: a number of a rank means nothing without the group that it counts in. Groups that
// the library asks MPI for are given back when their owner goes.
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

/// @param ranks  by rank of the group its rank in the communicator's own one; MPI_UNDEFINED where it has none. Memory that it has
///               is used again.
/// @return false if MPI fails, as of a group that was freed. @throws std::bad_alloc
[[nodiscard]] bool read_ranks_in(MPI_Comm comm, MPI_Group group, std::vector<int>& ranks);

} // namespace commtask::detail
