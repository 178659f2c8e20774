// SPDX-License-Identifier: Apache-2.0
//
// Visits every task that has not ended, so that a post on a file need not maintain a count:
// programs close files far less often than they write to them.
#include "mpi/open_files.hpp"

#include "core/operation_traits.hpp"
#include "mpi/one_sided.hpp"

namespace commtask::detail {
namespace {

/// A filter gets only the task, so the file is in a thread-local variable during the call.
thread_local MPI_File counted = MPI_FILE_NULL;

} // namespace

std::size_t count_tasks_of(const MPI_File& file, lane_set& lanes) noexcept {
    counted = file;
    std::size_t found = 0;
    for (const lane& each : lanes) {
        const auto here = each.incomplete.count(
            [](const task& which) { return operation_of(which.op.kind).takes_file && file_of(which.op) == counted; });
        found += here.all;
    }
    return found;
}

} // namespace commtask::detail
