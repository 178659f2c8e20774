// SPDX-License-Identifier: Apache-2.0
//
// Local MPI calls. The result is a list and not a group, since a group would have to be freed.
#include "mpi/groups.hpp"

#include "mpi/errors.hpp"

#include <cstddef>
#include <numeric>

namespace commtask::detail {

bool read_ranks_in(MPI_Comm comm, MPI_Group group, std::vector<int>& ranks) {
    const errors_return scope;
    own_group all;
    int n_ranks = 0;
    if (scope.code_of(MPI_Comm_group(comm, &all.group)) != MPI_SUCCESS ||
        scope.code_of(MPI_Group_size(group, &n_ranks)) != MPI_SUCCESS) {
        return false;
    }
    const auto size = static_cast<std::size_t>(n_ranks);
    ranks.resize(2 * size); // the input follows the output
    const auto asked = ranks.begin() + n_ranks;
    std::iota(asked, ranks.end(), 0);
    const int code = MPI_Group_translate_ranks(group, n_ranks, ranks.data() + size, all.group, ranks.data());
    ranks.resize(size);
    return scope.code_of(code) == MPI_SUCCESS;
}

} // namespace commtask::detail
