// SPDX-License-Identifier: Apache-2.0
//
// The members of a communicator, for a trace: the number of a communicator is meaningless on
// another rank, its members are not. Most communicators are a range of MPI_COMM_WORLD's ranks, or
// every n-th rank of a range, and are written as such.
#include "mpi/trace_comm.hpp"

#include "base/system.hpp"
#include "mpi/groups.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace commtask::detail {
namespace {

/// As ranks of MPI_COMM_WORLD; -2 for a process that is not in it.
[[nodiscard]] std::vector<int> members_of(MPI_Comm comm, bool is_intercommunicator) {
    own_group its;
    const int code = is_intercommunicator ? MPI_Comm_remote_group(comm, &its.group) : MPI_Comm_group(comm, &its.group);
    if (code != MPI_SUCCESS) return {};
    std::vector<int> members;
    if (!read_ranks_in(MPI_COMM_WORLD, its.group, members)) return {};
    for (int& member : members) {
        if (member == MPI_UNDEFINED) member = trace::nobody;
    }
    return members;
}

} // namespace

std::string text_of_members(std::span<const int> members) {
    std::string text;
    for (std::size_t first = 0; first < members.size();) {
        std::size_t last = first;
        const int step = first + 1 < members.size() ? members[first + 1] - members[first] : 0;
        while (step > 0 && members[first] >= 0 && last + 1 < members.size() &&
               members[last + 1] - members[last] == step) {
            ++last;
        }
        if (!text.empty()) text += ',';
        text += std::to_string(members[first]);
        if (last - first >= 2 || (last > first && step == 1)) {
            text += '-' + std::to_string(members[last]);
            if (step > 1) text += ':' + std::to_string(step);
            first = last + 1;
        } else {
            ++first;
        }
    }
    return text;
}

void record_communicator(tracer& records, MPI_Comm comm, std::uint32_t number, const std::string& name,
                         bool is_intercommunicator) {
    const std::vector<int> members = members_of(comm, is_intercommunicator);
    int me = 0;
    MPI_Comm_rank(comm, &me);
    const std::uint64_t texts =
        tracer::number_of(name) | (static_cast<std::uint64_t>(tracer::number_of(text_of_members(members))) << 32U);
    records.write_common(
        {now_ns(),
         texts,
         trace::halves(static_cast<int>(members.size()), me),
         {number, trace::record_type::communicator, 0, 0, static_cast<std::uint8_t>(is_intercommunicator)}});
}

} // namespace commtask::detail
