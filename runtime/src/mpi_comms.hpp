// SPDX-License-Identifier: Apache-2.0
//
// Which queue belongs to a communicator. Posters look it up without a lock; the first task of a communicator makes the
// worker look at it once. A communicator that the program frees tells us through an attribute whose delete function closes
// the queue, so that its handle, used again by MPI for another communicator, is not taken for the old one.
#pragma once

#include "comm_queue.hpp"
#include "lane_set.hpp"
#include "mpi_errors.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace commtask::detail {

class mpi_comms {
public:
    /// Calls MPI: on the thread that initialises. Registers MPI_COMM_WORLD and MPI_COMM_SELF.
    mpi_comms(mpi_error_handling& errors, lane_set& lanes);
    mpi_comms(const mpi_comms&) = delete;
    mpi_comms& operator=(const mpi_comms&) = delete;
    ~mpi_comms();

    /// Any thread. Null if the communicator is not registered, or freed.
    [[nodiscard]] comm_queue* find(MPI_Comm comm) noexcept;

    /// A driver, or the thread that initialises. @return an MPI error code.
    [[nodiscard]] int add(MPI_Comm comm, comm_queue*& queue) noexcept;

    /// The queue that tasks without a communicator of their own use.
    [[nodiscard]] comm_queue& world() noexcept { return *world_; }

    /// Whether MPI let the constructor do its work.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }

    [[nodiscard]] int tag_upper_bound() const noexcept { return tag_upper_bound_; }

private:
    static int on_free(MPI_Comm comm, int keyval, void* queue, void* self) noexcept;

    mpi_error_handling& errors_;
    lane_set& lanes_;
    const std::uint64_t epoch_; ///< Tells the threads' remembered queues of this object from those of an earlier one.
    int keyval_ = MPI_KEYVAL_INVALID;
    int tag_upper_bound_ = 32767;
    bool is_ready_ = false;
    std::mutex mutex_; ///< Guards queues_. Posters take it for communicators that they did not use lately.
    std::vector<std::unique_ptr<comm_queue>> queues_;
    comm_queue* world_ = nullptr;
};

} // namespace commtask::detail
