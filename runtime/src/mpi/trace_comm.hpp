// SPDX-License-Identifier: Apache-2.0
//
// Records a communicator in a trace. MPI is queried for its members once, at its first task, and
// never without a trace. Only messages between ranks of MPI_COMM_WORLD can be matched later.
#pragma once

#include "core/tracer.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>

namespace commtask::detail {

/// "0-7", "0-14:2", "3,1,0": the format is in docs/trace-format.md.
[[nodiscard]] std::string text_of_members(std::span<const int> members);

/// With a progress lock, or on the thread that initialises.
/// @param number  of the communicator in the trace
/// @throws std::bad_alloc
void record_communicator(tracer& records, MPI_Comm comm, std::uint32_t number, const std::string& name,
                         bool is_intercommunicator);

} // namespace commtask::detail
