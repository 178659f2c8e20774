// SPDX-License-Identifier: Apache-2.0
//
// One table of operations: for each kind how it is called in messages, in which program order it is, and how it is
// started with MPI. A blocking function becomes its nonblocking twin here and nowhere else.
#pragma once

#include "comm_queue.hpp"
#include "task.hpp"

#include <mpi.h>

#include <array>
#include <optional>
#include <string_view>

namespace commtask::detail {

/// What a start function gives the transport.
struct started_requests {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int count = 0;           ///< The first one's status is the task's.
    bool is_probing = false; ///< No request: MPI_Improbe until a message is there.
    /// Asked of the start: a receive is left out, its request null, until start_held_receive().
    bool holds_receive = false;
};

/// Starts a task's operation. @return an MPI error code; with an error, `started` holds what is in flight all the same.
using start_function = int (*)(task& which, started_requests& started);

struct operation_entry {
    std::string_view name;
    std::optional<order_class> ordered_in; ///< Which program order; none: the kind is never ordered.
    bool is_ordered_by_default = false;
    bool receives = false; ///< The status has a source, a tag and a length.
    start_function start = nullptr;
};

/// By commtask_kind. A kind outside the table has a null start function.
[[nodiscard]] const operation_entry& operation_of(int kind) noexcept;

/// The receive that starting left out. @return an MPI error code
[[nodiscard]] int start_held_receive(const commtask_op& op, MPI_Request* request) noexcept;

// The start functions, by file.
[[nodiscard]] int start_message(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_collective(task& which, started_requests& started) noexcept;
[[nodiscard]] int start_door(task& which, started_requests& started) noexcept;

} // namespace commtask::detail
