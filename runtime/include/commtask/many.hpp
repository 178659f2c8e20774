// SPDX-License-Identifier: Apache-2.0
//
// Many messages by one operation, as values for post(): one buffer to many ranks, blocks to and from the ranks of lists, buffers in
// partitions. Lists, arrays and buffers must live until the task has ended; recorded, until the plan is gone.
#pragma once

#include <commtask/collectives_v.hpp>
#include <commtask/operation.hpp>

#include <ranges>
#include <string>

namespace commtask {

/// A lasting list of ranks.
template <typename T>
concept rank_list = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> && std::ranges::borrowed_range<T> &&
                    std::same_as<std::ranges::range_value_t<T>, int>;

/// @cond
namespace frontend {

[[nodiscard]] inline MPI_Count partition_size(MPI_Count n_elements, int n_partitions) {
    if (n_partitions > 0 && n_elements % n_partitions == 0) return n_elements / n_partitions;
    throw error{COMMTASK_ERR_COUNT, "n_partitions is " + std::to_string(n_partitions) + ", and a buffer of " +
                                        std::to_string(n_elements) + " elements has no such equal parts"};
}

} // namespace frontend
/// @endcond

/// One buffer to each rank of a list; they receive it by any receive.
/// @param buffer  what to send.
/// @param dests  the ranks.
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer, rank_list Ranks>
[[nodiscard]] operation multicast(Buffer&& buffer, Ranks&& dests, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_multicast(from.buffer, from.count, from.type, std::ranges::data(dests),
                                           static_cast<int>(std::ranges::size(dests)), tag, comm)};
}

/// A block to each rank of a list, and one from each rank of another; others may send and receive the blocks by any message.
/// @param send_buffer  where the blocks to send are.
/// @param send_counts  elements for each of `dests`.
/// @param send_displs  where each block begins, in elements.
/// @param dests  the ranks that receive.
/// @param recv_buffer  where the blocks go.
/// @param recv_counts  elements from each of `sources`.
/// @param recv_displs  where each block goes, in elements.
/// @param sources  the ranks that send.
/// @param tag  of all messages.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, count_array Counts, displs_array<Counts> Displs, rank_list Dests, incoming Recv,
          count_array RecvCounts, displs_array<RecvCounts> RecvDispls, rank_list Sources>
    requires same_element<Send, Recv> && same_counts<Counts, RecvCounts>
[[nodiscard]] operation many_to_many(Send&& send_buffer, Counts&& send_counts, Displs&& send_displs, Dests&& dests,
                                     Recv&& recv_buffer, RecvCounts&& recv_counts, RecvDispls&& recv_displs,
                                     Sources&& sources, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    const auto make = [&](auto how) {
        return operation{how(from.buffer, std::ranges::data(send_counts), std::ranges::data(send_displs), from.type,
                             std::ranges::data(dests), static_cast<int>(std::ranges::size(dests)), into.buffer,
                             std::ranges::data(recv_counts), std::ranges::data(recv_displs), into.type,
                             std::ranges::data(sources), static_cast<int>(std::ranges::size(sources)), tag, comm)};
    };
    if constexpr (int_array<Counts>) {
        return make(commtask_op_many_to_many_int);
    } else {
        return make(commtask_op_many_to_many);
    }
}

/// Send in partitions, for plan::record(): each leaves when plan::ready() says that it is filled.
/// @param buffer  what to send; its size is a multiple of n_partitions.
/// @param n_partitions  how many.
/// @param dest  the rank that receives, by precv().
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post() in a recording.
/// @throws error  if the buffer has no such equal parts.
template <outgoing Buffer>
[[nodiscard]] operation psend(Buffer&& buffer, int n_partitions, int dest, int tag, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    const MPI_Count each = frontend::partition_size(from.count, n_partitions);
    return operation{commtask_op_psend(from.buffer, n_partitions, each, from.type, dest, tag, comm)};
}

/// Receive in partitions, for plan::record(): plan::arrived() asks for each.
/// @param buffer  where to receive; as large as the buffer of the psend(), and a multiple of n_partitions.
/// @param n_partitions  how many; the sender may have another number.
/// @param source  the rank that sends, by psend().
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post() in a recording.
/// @throws error  if the buffer has no such equal parts.
template <incoming Buffer>
[[nodiscard]] operation precv(Buffer&& buffer, int n_partitions, int source, int tag, MPI_Comm comm) {
    const block into = frontend::to_recv(std::forward<Buffer>(buffer));
    const MPI_Count each = frontend::partition_size(into.count, n_partitions);
    return operation{commtask_op_precv(into.buffer, n_partitions, each, into.type, source, tag, comm)};
}

} // namespace commtask
