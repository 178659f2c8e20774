// SPDX-License-Identifier: Apache-2.0
//
// Finds the ranks of a communicator that are on this node. Local: each rank does so when it first
// uses the communicator, and waits for no other rank.
#pragma once

#include "core/node_observer.hpp"
#include "doorbell/doorbells.hpp"

#include <mpi.h>

#include <memory>

namespace commtask::detail {

/// Called on the progress thread, while MPI errors are returned as codes.
/// @param announces_remote  whether messages to other nodes are announced
/// @return null if MPI fails or there is no memory: then the communicator has no doorbells
[[nodiscard]] std::unique_ptr<const node_peers> peers_of(MPI_Comm comm, bool is_intercommunicator, const doorbells& all,
                                                         bool announces_remote) noexcept;

} // namespace commtask::detail
