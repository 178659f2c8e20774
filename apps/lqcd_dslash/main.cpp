// SPDX-License-Identifier: Apache-2.0
// Wilson Dslash on a grid of ranks, as a chain or in a solver, which adds sums over the ranks. Advantage: a real stencil whose faces
// matter, checked in every run. Disadvantage: one operator, and solvers without a multilevel preconditioner.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the lattice was refused.
#include "driver.hpp"

#include <algorithm>

int main(int argc, char** argv) {
    dslash::parsed_options parsed = dslash::parse_options(argc, argv);
    dslash::options& settings = parsed.values;
    const auto before_runtime = [&](int rank) {
        if (settings.bad == dslash::bad_habit::worker_on_computing_core)
            dslash::bind_too_tightly(std::max(1, settings.n_cores - 1), rank);
    };
    return miniapp::run_program(argc, argv,
                                {.name = "lqcd_dslash",
                                 .usual = settings,
                                 .leaves = parsed,
                                 .settle = [&](int n_ranks) { return dslash::settle(settings, n_ranks); },
                                 .memory = [&](int, int) { return dslash::memory(settings); },
                                 .before_runtime = before_runtime,
                                 .run =
                                     [&](int) {
                                         const bool is_solver = settings.solve != dslash::method::none;
                                         return (is_solver ? dslash::run_solver : dslash::run)(settings,
                                                                                               MPI_COMM_WORLD);
                                     }});
}
