// SPDX-License-Identifier: Apache-2.0
// A run as the command line asks for it. Its result is compared at every point with what the steps give in exact arithmetic,
// known in closed form; what rounding may make of that is the tolerance.
#pragma once

#include "schedule.hpp"

#include <string>

namespace poisson {

struct options {
    problem whole;
    const mode* how = nullptr;
    halo_kind by = halo_kind::p2p;
    int n_steps = 0; ///< Two of them are a sweep of red-black.
    int n_cores = 1;
    int repeats = 5;
    std::string halo_name, method_name;
    std::string json_file;
};

/// Collective; true when all checks passed. Rank 0 prints, and says why the JSON file could not be written.
bool run(const options& settings, MPI_Comm comm, std::string& why_not_written);

} // namespace poisson
