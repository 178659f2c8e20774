// SPDX-License-Identifier: Apache-2.0
// Mode commself: a thread that waits inside MPI for a message on a duplicate of MPI_COMM_SELF, so that MPI progresses
// there. Needs MPI_THREAD_MULTIPLE, whose locks every other MPI call then pays for; the thread's core does not compute.
#include "common/self_progress.hpp"
#include "fork_join.hpp"

#include <algorithm>

namespace dslash {

namespace {

class commself_transport final : public mpi_transport {
public:
    commself_transport(stencil& on, MPI_Comm comm) : mpi_transport(on, comm) {}

private:
    miniapp::self_progress progress_;
};

} // namespace

std::unique_ptr<exchange> make_commself_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<fork_join_exchange>(on, std::make_unique<commself_transport>(on, options.comm),
                                                std::max(1, options.n_cores - 1), std::max(2, options.n_cores));
}

} // namespace dslash
