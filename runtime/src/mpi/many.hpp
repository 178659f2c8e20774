// SPDX-License-Identifier: Apache-2.0
//
// The messages of an operation of many messages, in the order of its lists. Receives come first, so
// that a send to the rank itself finds its receive. Messages to or from MPI_PROC_NULL are skipped.
// A task for each message would cost a slot and a handle per message. A neighborhood collective
// would need a communicator for each list, created by all ranks.
#pragma once

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>

namespace commtask::detail {

struct one_message {
    void* buffer;
    one_count count;
    MPI_Datatype type;
    int peer;
    int tag;
};

/// The ranks from which messages of this operation may come: one rank or a list.
[[nodiscard]] inline std::span<const int> sources_of(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (kind.has_sources) return {op.sources, static_cast<std::size_t>(op.source)};
    return {&op.source, kind.has_source ? 1U : 0U};
}
/// The destination ranks of an operation with a list.
[[nodiscard]] inline std::span<const int> dests_of(const commtask_op& op) noexcept {
    return {op.dests, static_cast<std::size_t>(op.peer)};
}
[[nodiscard]] inline int recv_tag_of(const commtask_op& op) noexcept {
    return operation_of(op.kind).has_sources ? op.send_tag : op.recv_tag;
}

/// Entry `i` of an array of counts, in the form of the operation.
[[nodiscard]] inline MPI_Count count_at(const commtask_op& op, const void* counts, std::size_t i) noexcept {
    return op.array_form == COMMTASK_COUNTS_INT ? static_cast<const int*>(counts)[i]
                                                : static_cast<const MPI_Count*>(counts)[i];
}

/// Calls `visit(one_message)`, which returns an MPI error code, for each message of one side, up to
/// the first error.
/// @return that error code, or the one for a datatype that has no extent
template <typename Visit>
[[nodiscard]] int visit_messages(const commtask_op& op, bool receives, Visit&& visit) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    const commtask_side& side = receives ? op.recv : op.send;
    const std::span<const int> peers = receives ? sources_of(op) : dests_of(op);
    const bool has_arrays = receives ? kind.has_recv_arrays() : kind.has_send_arrays();
    // The cast is valid: the operation stores all buffers as const, but MPI writes only to buffers
    // that were not const in the program's call.
    auto* const base = static_cast<char*>(const_cast<void*>(side.buffer));
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    if (has_arrays && !peers.empty()) {
        if (const int code = MPI_Type_get_extent_x(side.type, &lower, &extent); code != MPI_SUCCESS) return code;
    }
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (peers[i] == MPI_PROC_NULL) continue;
        one_message each{base, {side.count}, side.type, peers[i], op.send_tag};
        if (has_arrays) {
            const bool is_int = op.array_form == COMMTASK_COUNTS_INT;
            const MPI_Aint displ =
                is_int ? static_cast<const int*>(side.displs)[i] : static_cast<const MPI_Aint*>(side.displs)[i];
            each.buffer = base + displ * extent;
            each.count = {count_at(op, side.counts, i)};
        }
        if (const int code = visit(each); code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

} // namespace commtask::detail
