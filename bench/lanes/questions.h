// SPDX-License-Identifier: Apache-2.0
//
// What bench_lanes can be asked beside the rates of this machine: of networks that are not here, in virtual time or as links that
// are emulated. One program, so that all that is said of lanes comes from one name.
#pragma once

#include "harness/options.h"

#include <string>

namespace commtask::bench {

/// What the results name beside the machine: rates of lanes are an MPI's.
[[nodiscard]] std::string mpi_version();

/// In virtual time, on one process without MPI: bursts on three networks, by one lane, by the best choice and by the policy's.
/// @throws std::runtime_error
void simulate(const options& given);

/// Two ranks, one thread of each posts: what 1 to 4 lanes bring it. Goals are those over links whose contexts each inject one
/// message per gap (EMULATED_LINK_GAP_US). Between MPI_Init_thread and MPI_Finalize. @throws std::runtime_error
void ask_one_poster(const options& given);

} // namespace commtask::bench
