// SPDX-License-Identifier: Apache-2.0
//
// A communicator in a trace: asks MPI for its members once, when its first task comes, and not at all without a trace.
// Only messages between ranks of MPI_COMM_WORLD can be matched later.
#pragma once

#include "core/tracer.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>

namespace commtask::detail {

/// "0-7", "0-14:2", "3,1,0": as docs/trace-format.md says.
[[nodiscard]] std::string text_of_members(std::span<const int> members);

/// A driver, or the thread that initialises.
/// @param number  its own in the trace
/// @throws std::bad_alloc
void record_communicator(tracer& records, MPI_Comm comm, std::uint32_t number, const std::string& name,
                         bool is_intercommunicator);

} // namespace commtask::detail
