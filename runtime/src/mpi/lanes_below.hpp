// SPDX-License-Identifier: Apache-2.0
//
// What an MPI makes of several lanes: whether their workers go on side by side in it, or take turns. A pure function of what is
// known of the MPIs (docs/lanes.md) and of the one number on which that depends (mpi/network_contexts.hpp). Knows no MPI itself.
#pragma once

#include "mpi/name.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace commtask::detail {

struct lanes_in_mpi {
    bool are_independent; ///< False too if nobody knows.
    std::string sentence; ///< For a user who has asked for `n_lanes`.
};

/// MPICH's number of network contexts: a variable of the environment, and a control variable of its tool interface.
inline constexpr const char* contexts_variable = "MPIR_CVAR_CH4_NUM_VCIS";
/// Its number of contexts for the program's streams.
inline constexpr const char* reserved_variable = "MPIR_CVAR_CH4_RESERVE_VCIS";
/// Intel MPI's: a context for each thread, and no lock.
inline constexpr const char* thread_split_variable = "I_MPI_THREAD_SPLIT";

/// @param n_contexts  that MPI has; 0: not known
/// @param n_reserved  for the program's streams, beside these
[[nodiscard]] lanes_in_mpi lanes_below(const mpi_name& mpi, int n_lanes, int n_contexts, int n_reserved = 0);

/// @param thread_split  what thread_split_variable says; may be null
/// @return why lanes would abort in that MPI; empty: they do not
[[nodiscard]] std::string why_not_lanes(const mpi_name& mpi, int n_lanes, const char* thread_split);

/// What must be in the environment before MPI_Init for lanes that go on side by side.
struct setting_below {
    std::string variable;
    std::string value;
};

/// Nothing where nothing helps: an MPICH that is asked for more contexts than it is made for aborts in MPI_Init.
/// @param n_reserved  what reserved_variable says, which counts there too
[[nodiscard]] std::optional<setting_below> setting_for_lanes(const mpi_name& mpi, int n_lanes, int n_reserved);

} // namespace commtask::detail
