// SPDX-License-Identifier: Apache-2.0
//
// The queue of one communicator: which lane serves it, what posters need to know to check their arguments, and the
// program order of its ordered tasks. A queue lives as long as its context, since tasks point to it; a communicator that
// was freed closes its queue, and a new one with the same handle gets a new queue.
#pragma once

#include "comm_order.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace commtask::detail {

class lane;

/// Which program order a task belongs to.
enum class order_class : std::uint32_t { messages = 0, collectives = 1 };

class comm_queue {
public:
    comm_queue(MPI_Comm handle, lane& served_by) noexcept : comm(handle), owner(&served_by) {}

    const MPI_Comm comm;
    lane* const owner;
    // Set once by the worker before any poster sees the queue.
    int n_peers = 0; ///< Ranks that a message can go to: the remote group's on an intercommunicator.
    bool is_intercommunicator = false;
    std::string name;
    std::atomic<bool> is_closed{false}; ///< The communicator was freed.

    std::array<comm_order, 2> orders; ///< By order_class.
};

} // namespace commtask::detail
