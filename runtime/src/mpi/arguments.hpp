// SPDX-License-Identifier: Apache-2.0
//
// Checks an operation's arguments before it is started: ranks, tags, counts, buffers, handles. Only
// the check for a window may call MPI. All other errors are found by MPI when the task starts, and
// the task fails.
#pragma once

#include "core/comm_queue.hpp"
#include "mpi/windows.hpp"

#include <commtask/operation.h>

#include <climits>
#include <cstdint>

namespace commtask::detail {

/// The most frequent kinds.
[[nodiscard]] constexpr bool is_plain_kind(int kind) noexcept {
    return kind == COMMTASK_OP_SEND || kind == COMMTASK_OP_RECV;
}
/// Whether the operation is a plain send or receive whose arguments a few comparisons show to be
/// valid. False says nothing about the arguments.
[[nodiscard]] inline bool is_plain_message(const commtask_op& op, const comm_queue& queue,
                                           int tag_upper_bound) noexcept {
    if (!is_plain_kind(op.kind)) return false;
    const bool receives = op.kind == COMMTASK_OP_RECV;
    const commtask_side& side = receives ? op.recv : op.send;
    const auto rank = static_cast<unsigned>(receives ? op.source : op.peer);
    const auto tag = static_cast<unsigned>(receives ? op.recv_tag : op.send_tag);
    return rank < static_cast<unsigned>(queue.n_peers) && tag <= static_cast<unsigned>(tag_upper_bound) &&
           static_cast<std::uint64_t>(side.count) <= static_cast<std::uint64_t>(INT_MAX) && side.buffer != nullptr &&
           side.type != MPI_DATATYPE_NULL;
}

/// @return COMMTASK_OK, or the error code of the first wrong argument, with a message that names
/// it. Not for operations on windows.
[[nodiscard]] int check_arguments(const commtask_op& op, const comm_queue& queue, int tag_upper_bound) noexcept;

/// Like check_arguments() for an operation on a window. If the calling thread may call MPI, the
/// extents of datatypes other than C's basic ones are checked too.
[[nodiscard]] int check_window_arguments(const commtask_op& op, const served_window& window, const comm_queue& queue,
                                         int tag_upper_bound, bool may_ask_mpi) noexcept;

// Shared by both functions.

/// The size of a predefined datatype; 0 for any other.
[[nodiscard]] int basic_bytes(MPI_Datatype type) noexcept;
[[nodiscard]] int check_side(const commtask_side& side, const char* name) noexcept;
[[nodiscard]] int check_rank(int rank, bool may_be_any, const char* name, const comm_queue& queue) noexcept;
[[nodiscard]] int check_tag(int tag, bool may_be_any, const char* name, int tag_upper_bound) noexcept;

/// The error code of the first check that fails; later checks are not called.
template <typename... Checks>
[[nodiscard]] int first_failure(Checks&&... checks) noexcept {
    int code = COMMTASK_OK;
    static_cast<void>((((code = checks()) == COMMTASK_OK) && ...));
    return code;
}

} // namespace commtask::detail
