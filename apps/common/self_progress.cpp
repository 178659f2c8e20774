// SPDX-License-Identifier: Apache-2.0
// The thread waits for a message on a duplicate of MPI_COMM_SELF, which the destructor sends.
// Every other MPI call pays for the locks meanwhile; that is what the mode is there to show.
#include "common/self_progress.hpp"

namespace miniapp {

self_progress::self_progress() {
    MPI_Comm_dup(MPI_COMM_SELF, &self_);
    progress_ = std::thread([this] {
        int nothing = 0;
        int received = 0;
        MPI_Request request;
        MPI_Irecv(&nothing, 1, MPI_INT, 0, 0, self_, &request);
        while (received == 0) MPI_Test(&request, &received, MPI_STATUS_IGNORE);
    });
}

self_progress::~self_progress() {
    const int nothing = 0;
    MPI_Send(&nothing, 1, MPI_INT, 0, 0, self_);
    progress_.join();
    MPI_Comm_free(&self_);
}

} // namespace miniapp
