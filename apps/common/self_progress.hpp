// SPDX-License-Identifier: Apache-2.0
// Mode commself of the miniapps: a thread inside MPI, so that MPI progresses, at the price of MPI_THREAD_MULTIPLE.
// It asks MPI_Test without pause instead of blocking in MPI_Recv: MPICH 4.0.2 does not notice that a receive which
// blocks on MPI_COMM_SELF was matched by another thread until some other message happens to arrive.
#pragma once

#include <mpi.h>

#include <thread>

namespace miniapp {

/// The thread lives as long as this object. Make it and end it on one thread, while MPI is up.
class self_progress {
public:
    self_progress() {
        MPI_Comm_dup(MPI_COMM_SELF, &self_);
        progress_ = std::thread([this] {
            int nothing = 0;
            int received = 0;
            MPI_Request request;
            MPI_Irecv(&nothing, 1, MPI_INT, 0, 0, self_, &request);
            while (received == 0) MPI_Test(&request, &received, MPI_STATUS_IGNORE);
        });
    }
    ~self_progress() {
        const int nothing = 0;
        MPI_Send(&nothing, 1, MPI_INT, 0, 0, self_);
        progress_.join();
        MPI_Comm_free(&self_);
    }
    self_progress(const self_progress&) = delete;
    self_progress& operator=(const self_progress&) = delete;

private:
    MPI_Comm self_ = MPI_COMM_NULL;
    std::thread progress_;
};

} // namespace miniapp
