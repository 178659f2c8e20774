// SPDX-License-Identifier: Apache-2.0
//
// What bench_lanes can be asked beside the rates of this machine: of links that are emulated.
// One program, so that all that is said of lanes comes from one name.
#pragma once

#include "harness/options.h"

#include <string>

namespace commtask::bench {

/// What the results name beside the machine: rates of lanes are an MPI's.
[[nodiscard]] std::string mpi_version();

/// Two ranks, one thread of each posts over links whose contexts each inject one message per gap (EMULATED_LINK_GAP_US): what a
/// second lane brings it. Between MPI_Init_thread and MPI_Finalize. @throws std::runtime_error
void ask_one_poster(const options& given);

} // namespace commtask::bench
