// SPDX-License-Identifier: Apache-2.0
// Mode baseline: MPI_THREAD_FUNNELED, all cores compute, the master posts, computes with the others and waits.
// The strongest thing that plain MPI and fork-join offer at equal cores, so it is what the others are measured against.
#include "fork_join.hpp"

namespace dslash {

std::unique_ptr<exchange> make_baseline_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<fork_join_exchange>(on, std::make_unique<mpi_transport>(on, options.comm), options.n_cores,
                                                options.n_cores);
}

} // namespace dslash
