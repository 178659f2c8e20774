// SPDX-License-Identifier: Apache-2.0
// The command line. Parsed before MPI starts, since the mode decides the thread level; what is wrong with it is kept
// as a sentence for rank 0 to print, so that all ranks leave together.
#pragma once

#include "bad.hpp"
#include "common/memory.hpp"
#include "common/parsed.hpp"
#include "solver.hpp"
#include "verify.hpp"

#include <optional>

namespace dslash {

enum class check_level { none, golden, full };
inline const std::vector<std::string> check_names{"none", "golden", "full"};
inline const std::vector<std::string> precision_names{"double", "single"};

struct options : miniapp::usual_options {
    std::optional<coordinates> lattice; ///< Absent: 8.8.8.8 per rank.
    std::optional<coordinates> grid;    ///< Absent: the one with the smallest faces.
    stencil_options kernel;
    dslash::mode which = dslash::mode::baseline;
    int iterations = 100;
    int probe_every = 4;
    check_level check = check_level::golden;
    bad_habit bad = bad_habit::none;
    method solve = method::none; ///< None: the timed chain of hops.
    double kappa = known_kappa;
    bool has_plan = true;
    bool is_bound = false;
    bool force_comm = false;
};

using parsed_options = miniapp::parsed<options>;

parsed_options parse_options(int argc, const char* const* argv);

/// Settles lattice and grid for `n_ranks`; gives the refusal, empty when all is well.
std::string settle(options& values, int n_ranks);

/// What each rank allocates; of settled options.
miniapp::memory_need memory(const options& values);

} // namespace dslash
