// SPDX-License-Identifier: Apache-2.0
// Mode commself: a thread that waits inside MPI for a message on a duplicate of MPI_COMM_SELF, so that MPI progresses
// there. Needs MPI_THREAD_MULTIPLE, whose locks every other MPI call then pays for; the thread's core does not compute.
// It asks MPI_Test without pause instead of blocking in MPI_Recv: MPICH 4.0.2 does not notice that a receive which
// blocks on MPI_COMM_SELF was matched by another thread until some other message happens to arrive.
#include "fork_join.hpp"

#include <algorithm>
#include <thread>

namespace dslash {

namespace {

class commself_transport final : public mpi_transport {
public:
    commself_transport(stencil& on, MPI_Comm comm) : mpi_transport(on, comm) {
        MPI_Comm_dup(MPI_COMM_SELF, &self_);
        progress_ = std::thread([this] {
            int nothing = 0;
            int received = 0;
            MPI_Request request;
            MPI_Irecv(&nothing, 1, MPI_INT, 0, 0, self_, &request);
            while (received == 0) MPI_Test(&request, &received, MPI_STATUS_IGNORE);
        });
    }

    ~commself_transport() override {
        const int nothing = 0;
        MPI_Send(&nothing, 1, MPI_INT, 0, 0, self_);
        progress_.join();
        MPI_Comm_free(&self_);
    }

private:
    MPI_Comm self_ = MPI_COMM_NULL;
    std::thread progress_;
};

} // namespace

std::unique_ptr<exchange> make_commself_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<fork_join_exchange>(on, std::make_unique<commself_transport>(on, options.comm),
                                                std::max(1, options.n_cores - 1), std::max(2, options.n_cores));
}

} // namespace dslash
