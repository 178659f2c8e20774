// SPDX-License-Identifier: Apache-2.0
//
// The messages of one operation of many, as they lie in its lists. Receives come first, so that a send to oneself finds them;
// what would go to or come from MPI_PROC_NULL is left out, since it is nothing. A task for each message would cost a slot and a
// handle for each; a neighborhood collective would need a communicator, and all ranks, for each list.
#pragma once

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>

namespace commtask::detail {

/// One of them.
struct one_message {
    void* buffer;
    one_count count;
    MPI_Datatype type;
    int peer;
    int tag;
};

/// Where messages of this operation may come from: one rank or a list.
[[nodiscard]] inline std::span<const int> sources_of(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (kind.has_sources) return {op.sources, static_cast<std::size_t>(op.source)};
    return {&op.source, kind.has_source ? 1U : 0U};
}
/// Where they go to, of an operation with a list.
[[nodiscard]] inline std::span<const int> dests_of(const commtask_op& op) noexcept {
    return {op.dests, static_cast<std::size_t>(op.peer)};
}
[[nodiscard]] inline int recv_tag_of(const commtask_op& op) noexcept {
    return operation_of(op.kind).has_sources ? op.send_tag : op.recv_tag;
}

/// Entry `i` of an array of counts, in the form that the operation has it.
[[nodiscard]] inline MPI_Count count_at(const commtask_op& op, const void* counts, std::size_t i) noexcept {
    return op.array_form == COMMTASK_COUNTS_INT ? static_cast<const int*>(counts)[i]
                                                : static_cast<const MPI_Count*>(counts)[i];
}

/// Calls `visit(one_message)`, which gives an MPI error code, for each message of one side, up to the first error.
/// @return its code, or that of a datatype that has no extent
template <typename Visit>
[[nodiscard]] int visit_messages(const commtask_op& op, bool receives, Visit&& visit) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    const commtask_side& side = receives ? op.recv : op.send;
    const std::span<const int> peers = receives ? sources_of(op) : dests_of(op);
    const bool has_arrays = receives ? kind.has_recv_arrays() : kind.has_send_arrays();
    auto* const base = static_cast<char*>(const_cast<void*>(side.buffer)); // not const where MPI writes it
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
