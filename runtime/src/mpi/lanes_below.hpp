// SPDX-License-Identifier: Apache-2.0
//
// Whether the workers of several lanes run in parallel inside an MPI, or serialize. A pure function
// of facts about the MPIs (docs/lanes.md) and of MPICH's number of network contexts
// (mpi/network_contexts.hpp). Calls no MPI.
#pragma once

#include "mpi/name.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace commtask::detail {

struct lanes_in_mpi {
    bool are_independent; ///< Also false if it is unknown.
    std::string message;  ///< A message for a user that has requested `n_lanes`.
};

/// MPICH's number of network contexts: an environment variable, and an MPI_T control variable.
inline constexpr const char* contexts_variable = "MPIR_CVAR_CH4_NUM_VCIS";
/// MPICH's number of contexts for streams of the program.
inline constexpr const char* reserved_variable = "MPIR_CVAR_CH4_RESERVE_VCIS";
/// Intel MPI's setting for a context per thread, without a lock.
inline constexpr const char* thread_split_variable = "I_MPI_THREAD_SPLIT";

/// @param n_contexts  of MPI; 0: not known
/// @param n_reserved  contexts for the program's streams, in addition
[[nodiscard]] lanes_in_mpi lanes_below(const mpi_name& mpi, int n_lanes, int n_contexts, int n_reserved = 0);

/// @param thread_split  the value of thread_split_variable; may be null
/// @return why lanes would abort in that MPI; empty: they do not
[[nodiscard]] std::string why_not_lanes(const mpi_name& mpi, int n_lanes, const char* thread_split);

/// An environment variable that must be set before MPI_Init, so that lanes run in parallel.
struct setting_below {
    std::string variable;
    std::string value;
};

/// Nothing if no setting helps: MPICH aborts in MPI_Init if more contexts are requested than it was
/// built for.
/// @param n_reserved  the value of reserved_variable, which counts towards that limit
[[nodiscard]] std::optional<setting_below> setting_for_lanes(const mpi_name& mpi, int n_lanes, int n_reserved);

} // namespace commtask::detail
