// SPDX-License-Identifier: Apache-2.0
//
// Operations of many messages, as values for post(): one buffer to many ranks, blocks to and from
// the ranks of lists, and partitioned sends and receives. Lists, arrays and buffers must live until
// the task has ended; if they are recorded, until the plan is released.
#pragma once

#include <commtask/collectives_v.hpp>
#include <commtask/operation.hpp>

#include <ranges>
#include <string>

namespace commtask {

/// A list of ranks that is no temporary.
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

/// Sends one buffer to each rank of a list. The destinations receive it by any receive.
/// @param buffer  the data to send.
/// @param dests  ranks of the destinations.
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer, rank_list Ranks>
[[nodiscard]] operation multicast(Buffer&& buffer, Ranks&& dests, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_multicast(from.buffer, from.count, from.type, std::ranges::data(dests),
                                           static_cast<int>(std::ranges::size(dests)), tag, comm)};
}

/// Sends a block to each rank of a list and receives a block from each rank of another list. The
/// other ranks may use any sends and receives.
/// @param send_buffer  the send buffer.
/// @param send_counts  number of elements for each of `dests`.
/// @param send_displs  displacement of each block, in elements.
/// @param dests  ranks of the destinations.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each of `sources`.
/// @param recv_displs  displacement of each block, in elements.
/// @param sources  ranks of the sources.
/// @param tag  tag of all messages.
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

/// Partitioned send, for plan::record(): plan::pready_range() marks partitions ready, and they are
/// sent.
/// @param buffer  the data to send; its size is a multiple of n_partitions.
/// @param n_partitions  number of partitions.
/// @param dest  rank of the destination, which receives by precv().
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post() in a recording.
/// @throws error  if the buffer cannot be divided into n_partitions equal parts.
template <outgoing Buffer>
[[nodiscard]] operation psend(Buffer&& buffer, int n_partitions, int dest, int tag, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    const MPI_Count each = frontend::partition_size(from.count, n_partitions);
    return operation{commtask_op_psend(from.buffer, n_partitions, each, from.type, dest, tag, comm)};
}

/// Partitioned receive, for plan::record(): plan::parrived() tests partitions.
/// @param buffer  the receive buffer; as large as the buffer of the psend(), and a multiple of
///                n_partitions.
/// @param n_partitions  number of partitions; the sender may have another number.
/// @param source  rank of the source, which sends by psend().
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post() in a recording.
/// @throws error  if the buffer cannot be divided into n_partitions equal parts.
template <incoming Buffer>
[[nodiscard]] operation precv(Buffer&& buffer, int n_partitions, int source, int tag, MPI_Comm comm) {
    const block into = frontend::to_recv(std::forward<Buffer>(buffer));
    const MPI_Count each = frontend::partition_size(into.count, n_partitions);
    return operation{commtask_op_precv(into.buffer, n_partitions, each, into.type, source, tag, comm)};
}

} // namespace commtask
