// SPDX-License-Identifier: Apache-2.0
//
// The exchange by which the ranks of a node agree on the map of workers. MPI knows which ranks
// share a node; host names do not (containers, network namespaces). Errors are returned as
// messages: without a map the caller can continue with workers that share their cores.
#pragma once

#include "config/config.hpp"
#include "node/placement.hpp"

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace commtask::detail {

/// The texts of several ranks, in the order of their ranks in the communicator.
struct text_exchange {
    std::vector<std::string> texts; ///< One per rank; after a failure, only this rank's.
    std::size_t me = 0;             ///< The index of this rank in `texts`.
    std::optional<std::string> failure{};
};

/// Collective over `comm`, whose error handler must return. `mine` is this rank's text.
/// @throws std::bad_alloc on every rank, if one rank had no memory for the exchange
[[nodiscard]] text_exchange collective_exchange(MPI_Comm comm, const std::string& mine);

/// As collective_exchange(), among the ranks of `comm` on this rank's node.
[[nodiscard]] text_exchange collective_exchange_on_node(MPI_Comm comm, const std::string& mine);

/// The map of this node, and the input from which it was computed.
struct node_map {
    node_shape node;
    std::vector<rank_request> requests;     ///< One per rank of this node.
    std::vector<rank_placement> placements; ///< One per rank of this node.
    std::size_t me = 0;                     ///< The index of this rank in both lists.
    /// Why the ranks could not exchange requests. The map then has this rank alone, whose worker
    /// shares its core.
    std::optional<std::string> failure{};
};

/// Collective over `comm`, whose error handler must return. `cpus` are the CPUs that the launcher
/// gave this process (process_cpus()).
/// @throws std::bad_alloc on every rank, or after the exchange on this rank alone
[[nodiscard]] node_map collective_map_node(MPI_Comm comm, const config& settings, const cpu_set& cpus);

/// For example "MPI_Allgather failed: invalid communicator".
[[nodiscard]] std::string mpi_failure_text(const char* call, int code);

} // namespace commtask::detail
