// SPDX-License-Identifier: Apache-2.0
//
// Starts operations by calling MPI: one line for each kind, in a file for each group of kinds. All
// other properties of a kind are in operation_traits.hpp.
#pragma once

#include "core/task.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>

namespace commtask::detail {

/// The result of a start function, for the transport.
struct started_requests {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int count = 0; ///< The number of requests; the first one's status is the task's.
    /// The steps that start_next_step() starts, one after the other.
    std::uint32_t n_later_steps = 0;
    /// There is no request: the transport calls MPI_Improbe until it matches a message.
    bool is_probing = false;
    /// Set by the caller: the receive is not started now, and its request stays null until
    /// start_queued_receive().
    bool queues_receive = false;
};

/// Starts a task's operation. @return an MPI error code; even after an error, `started` has the
/// requests in flight
[[nodiscard]] int start_operation(task& which, started_requests& started) noexcept;

/// Starts the receive that start_operation() with `queues_receive` did not start. @return an MPI
/// error code
[[nodiscard]] int start_queued_receive(const commtask_op& op, MPI_Request* request) noexcept;

/// Whether the operation is a send of this rank to itself.
[[nodiscard]] bool is_to_itself(const commtask_op& op) noexcept;

/// Starts the next step of an operation with several steps. @return an MPI error code
[[nodiscard]] int start_next_step(const commtask_op& op, MPI_Request* request) noexcept;

/// Called when the last step of an operation has ended. @return an MPI error code
[[nodiscard]] int end_steps(const commtask_op& op) noexcept;

/// Whether the start calls a function that waits for another process, since MPI has no nonblocking
/// one.
[[nodiscard]] bool may_block(const commtask_op& op) noexcept;

// start_operation() for the kinds of one source file.
[[nodiscard]] int start_message(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_collective(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_custom(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_one_sided(const commtask_op& op, started_requests& started) noexcept;
[[nodiscard]] int start_file(const commtask_op& op, started_requests& started) noexcept;

} // namespace commtask::detail
