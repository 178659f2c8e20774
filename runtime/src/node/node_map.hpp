// SPDX-License-Identifier: Apache-2.0
//
// The ranks of one node tell each other what they need to agree on the map of workers. MPI knows which ranks share a
// node; host names do not (containers, network namespaces). Errors come back as sentences, since a map is not worth
// the end of a program: the caller can go on with shared workers.
#pragma once

#include "config/config.hpp"
#include "node/placement.hpp"

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace commtask::detail {

/// What several ranks said, in the order of their ranks in the communicator.
struct text_exchange {
    std::vector<std::string> texts; ///< One per rank. On a failure only this rank's.
    std::size_t me = 0;             ///< This rank's place in `texts`.
    std::optional<std::string> failure{};
};

/// Called by every rank of `comm`, whose error handler must return. `mine` is what this rank has to say to all.
/// @throws std::bad_alloc  on every rank, if one had no memory for the exchange
[[nodiscard]] text_exchange collective_exchange(MPI_Comm comm, const std::string& mine);

/// The same among the ranks that share this rank's node.
[[nodiscard]] text_exchange collective_exchange_on_node(MPI_Comm comm, const std::string& mine);

/// The map of this node with what it was made from.
struct node_map {
    node_shape node;
    std::vector<rank_request> requests;   ///< One per rank of this node.
    std::vector<rank_place> places;       ///< In the same order.
    std::size_t me = 0;                   ///< This rank's place in both.
    std::optional<std::string> failure{}; ///< The ranks could not talk: the map knows this rank alone, and it shares.
};

/// Called by every rank of `comm`, whose error handler must return. `cpus` are the CPUs that the launcher gave this
/// process, see process_cpus().
/// @throws std::bad_alloc  on every rank, or, once the ranks have talked, on this one alone
[[nodiscard]] node_map collective_map_node(MPI_Comm comm, const config& settings, const cpu_set& cpus);

/// "MPI_Allgather failed: invalid communicator".
[[nodiscard]] std::string mpi_failure_text(const char* call, int code);

} // namespace commtask::detail
