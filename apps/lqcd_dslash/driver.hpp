// SPDX-License-Identifier: Apache-2.0
// One run from fields to verdict and report. The order matters: everything that uses MPI directly happens before the mode starts
// or after it has ended, so that a mode may own MPI while it lives.
#pragma once

#include "common/program.hpp"
#include "common/runtime_session.hpp"
#include "options.hpp"

namespace dslash {

/// Collective over `comm`; rank 0 prints.
miniapp::outcome run(const options& settings, MPI_Comm comm);
/// The same with --solve.
miniapp::outcome run_solver(const options& settings, MPI_Comm comm);

/// The communicators that carry the messages of a hop, one for each direction that is cut, on as few lanes as serve them well. All are taken to be
/// as large as the largest.
std::vector<MPI_Comm> spread(miniapp::lane_comms& lanes, const stencil& on);

/// @param n_cores  that the rank may use beside the lanes
exchange_options exchange_options_of(const options& settings, MPI_Comm comm, int n_cores, std::vector<MPI_Comm> lanes);

/// Per hop and site, as Grid's Benchmark_wilson, Chroma and QPhiX count.
inline constexpr int flops_per_site = 1320;

} // namespace dslash
