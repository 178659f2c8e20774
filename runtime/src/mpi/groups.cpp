// SPDX-License-Identifier: Apache-2.0
//
// Local questions to MPI, which ask no other rank. Lists are made, and not groups, since MPI keeps what it has made until somebody
// frees it.
#include "mpi/groups.hpp"

#include "mpi/errors.hpp"

#include <cstddef>
#include <numeric>

namespace commtask::detail {

std::optional<std::vector<int>> ranks_in(MPI_Comm comm, MPI_Group group) {
    const errors_come_back scope;
    own_group all;
    int n_ranks = 0;
    if (scope.code_of(MPI_Comm_group(comm, &all.group)) != MPI_SUCCESS ||
        scope.code_of(MPI_Group_size(group, &n_ranks)) != MPI_SUCCESS) {
        return {};
    }
    std::vector<int> own(static_cast<std::size_t>(n_ranks));
    std::vector<int> there(own.size());
    if (n_ranks == 0) return there;
    std::iota(own.begin(), own.end(), 0);
    const int code = MPI_Group_translate_ranks(group, n_ranks, own.data(), all.group, there.data());
    if (scope.code_of(code) != MPI_SUCCESS) return {};
    return there;
}

} // namespace commtask::detail
