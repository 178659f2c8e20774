// SPDX-License-Identifier: Apache-2.0
//
// How operations are started with MPI: one line for each kind, in the file of its like. What else is to be known about a
// kind is in operation_traits.hpp.
#pragma once

#include "core/task.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>

namespace commtask::detail {

/// What a start function gives the transport.
struct started_requests {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int count = 0;                   ///< The first one's status is the task's.
    std::uint32_t n_later_steps = 0; ///< Parts that start_next_step() begins, one after the other.
    bool is_probing = false;         ///< No request: MPI_Improbe until a message is there.
    /// Asked of the start: a receive is left out, its request null, until start_held_receive().
    bool holds_receive = false;
};

/// Starts a task's operation. @return an MPI error code; with an error, `started` holds what is in flight all the same.
[[nodiscard]] int start_operation(task& which, started_requests& started) noexcept;

/// The receive that starting left out. @return an MPI error code
[[nodiscard]] int start_held_receive(const commtask_op& op, MPI_Request* request) noexcept;

/// Whether it sends to this process by the rank that it has itself.
[[nodiscard]] bool is_to_itself(const commtask_op& op) noexcept;

/// What comes after the first step of an operation that has several. @return an MPI error code
[[nodiscard]] int start_next_step(const commtask_op& op, MPI_Request* request) noexcept;

/// What is left to do when its last step has ended. @return an MPI error code
[[nodiscard]] int end_steps(const commtask_op& op) noexcept;

/// Whether starting it makes a call that waits for another process, since MPI has no other.
[[nodiscard]] bool may_block(const commtask_op& op) noexcept;

// The same for the kinds of one file.
[[nodiscard]] int start_message(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_collective(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_custom(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_one_sided(const commtask_op& op, started_requests& started) noexcept;
[[nodiscard]] int start_file(const commtask_op& op, started_requests& started) noexcept;

} // namespace commtask::detail
