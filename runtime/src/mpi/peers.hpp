// SPDX-License-Identifier: Apache-2.0
//
// A communicator as the ranks of a node know it: made by each rank alone, when it first uses the communicator, and the same on
// all. MPI gives no number that all ranks know; the ranks of the group are one, but for duplicates, which sources and tags must
// tell apart: a mix-up costs a wake-up.
#pragma once

#include "core/node_bell.hpp"

#include <mpi.h>

#include <memory>

namespace commtask::detail {

/// A driver, while errors come back. @return null if MPI fails, or there is no memory: then nobody rings for it
/// @param knows_far  whether messages to other nodes are announced
[[nodiscard]] std::unique_ptr<const node_peers> peers_of(MPI_Comm comm, bool is_intercommunicator,
                                                         const node_bells& bells, bool knows_far) noexcept;

} // namespace commtask::detail
