// SPDX-License-Identifier: Apache-2.0
//
// Finds the ranks of a communicator that are on this node. Each rank does so alone, when it first
// uses the communicator, so that no rank waits for another.
#pragma once

#include "core/node_observer.hpp"
#include "doorbell/doorbells.hpp"

#include <mpi.h>

#include <memory>

namespace commtask::detail {

/// On the progress thread, while MPI errors are returned as codes.
/// @param announces_remote  whether messages to other nodes are announced
/// @return null if MPI fails, or there is no memory: then no rank rings for the communicator
[[nodiscard]] std::unique_ptr<const node_peers> peers_of(MPI_Comm comm, bool is_intercommunicator,
                                                         const doorbells& bells, bool announces_remote) noexcept;

} // namespace commtask::detail
