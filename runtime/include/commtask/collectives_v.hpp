// SPDX-License-Identifier: Apache-2.0
//
// Collective operations with arrays of counts, as values for post(). The arrays are ranges of int
// (MPI-3.1), or of MPI_Count with displacements of MPI_Aint; one call takes one kind. Buffers, and
// arrays of more than 16 entries, must live until the task has ended. If an array has no meaning on
// this rank, as on a rank that is not the root, pass std::span<const int>{}.
#pragma once

#include <commtask/operation.hpp>

#include <ranges>

namespace commtask {

/// An array of counts, int or MPI_Count, that is no temporary.
template <typename T>
concept count_array =
    std::ranges::contiguous_range<T> && std::ranges::borrowed_range<T> &&
    (std::same_as<std::ranges::range_value_t<T>, int> || std::same_as<std::ranges::range_value_t<T>, MPI_Count>);

/// An array of int counts that is no temporary.
template <typename T>
concept int_array = count_array<T> && std::same_as<std::ranges::range_value_t<T>, int>;

/// An array of displacements that is no temporary: int for int counts, MPI_Aint for MPI_Count
/// counts.
template <typename T, typename Counts>
concept displs_array =
    std::ranges::contiguous_range<T> && std::ranges::borrowed_range<T> &&
    std::same_as<std::ranges::range_value_t<T>, std::conditional_t<int_array<Counts>, int, MPI_Aint>>;

/// An array of displacements in bytes for neighbor_alltoallw(), MPI_Aint with either kind of
/// counts, that is no temporary.
template <typename T>
concept aint_array = std::ranges::contiguous_range<T> && std::ranges::borrowed_range<T> &&
                     std::same_as<std::ranges::range_value_t<T>, MPI_Aint>;

/// An array of datatypes that is no temporary.
template <typename T>
concept type_array = std::ranges::contiguous_range<T> && std::ranges::borrowed_range<T> &&
                     std::same_as<std::ranges::range_value_t<T>, MPI_Datatype>;

/// Both arrays of one call have the same kind of counts.
template <typename Left, typename Right>
concept same_counts = int_array<Left> == int_array<Right>;

/// @cond
namespace frontend {

/// Defines one function for the two C functions of an operation, which differ in the type of their
/// arrays.
#define COMMTASK_FRONT_END_ARRAYS_(name)                                                                               \
    template <typename... Arguments>                                                                                   \
    [[nodiscard]] commtask_op name(Arguments... a) noexcept {                                                          \
        if constexpr (requires { commtask_op_##name##_int(a...); }) {                                                  \
            return commtask_op_##name##_int(a...);                                                                     \
        } else {                                                                                                       \
            return commtask_op_##name(a...);                                                                           \
        }                                                                                                              \
    }
COMMTASK_FRONT_END_ARRAYS_(gatherv)
COMMTASK_FRONT_END_ARRAYS_(scatterv)
COMMTASK_FRONT_END_ARRAYS_(allgatherv)
COMMTASK_FRONT_END_ARRAYS_(alltoallv)
COMMTASK_FRONT_END_ARRAYS_(alltoallw)
COMMTASK_FRONT_END_ARRAYS_(neighbor_allgatherv)
COMMTASK_FRONT_END_ARRAYS_(neighbor_alltoallv)
COMMTASK_FRONT_END_ARRAYS_(neighbor_alltoallw)
COMMTASK_FRONT_END_ARRAYS_(reduce_scatter)
#undef COMMTASK_FRONT_END_ARRAYS_

} // namespace frontend
/// @endcond

/// Gather with a count for each rank.
/// @param send_buffer  this rank's block, all of it.
/// @param recv_buffer  at the root the receive buffer.
/// @param recv_counts  at the root the number of elements from each rank.
/// @param recv_displs  at the root the displacement of each block, in elements.
/// @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, incoming Recv, count_array Counts, displs_array<Counts> Displs>
    requires same_element<Send, Recv>
[[nodiscard]] operation gatherv(Send&& send_buffer, Recv&& recv_buffer, Counts&& recv_counts, Displs&& recv_displs,
                                int root, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{frontend::gatherv(from.buffer, from.count, from.type, into.buffer, std::ranges::data(recv_counts),
                                       std::ranges::data(recv_displs), into.type, root, comm)};
}

/// Scatter with a count for each rank.
/// @param send_buffer  at the root the send buffer.
/// @param send_counts  at the root the number of elements for each rank.
/// @param send_displs  at the root the displacement of each block, in elements.
/// @param recv_buffer  this rank's block, all of it.
/// @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, count_array Counts, displs_array<Counts> Displs, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation scatterv(Send&& send_buffer, Counts&& send_counts, Displs&& send_displs, Recv&& recv_buffer,
                                 int root, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{frontend::scatterv(from.buffer, std::ranges::data(send_counts), std::ranges::data(send_displs),
                                        from.type, into.buffer, into.count, into.type, root, comm)};
}

/// Allgather with a count for each rank.
/// @param send_buffer  this rank's block, all of it.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each rank.
/// @param recv_displs  displacement of each block, in elements.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, incoming Recv, count_array Counts, displs_array<Counts> Displs>
    requires same_element<Send, Recv>
[[nodiscard]] operation allgatherv(Send&& send_buffer, Recv&& recv_buffer, Counts&& recv_counts, Displs&& recv_displs,
                                   MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{frontend::allgatherv(from.buffer, from.count, from.type, into.buffer,
                                          std::ranges::data(recv_counts), std::ranges::data(recv_displs), into.type,
                                          comm)};
}

/// Neighbor allgather with a count for each neighbor.
/// @param send_buffer  this rank's block, all of it.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each neighbor.
/// @param recv_displs  displacement of each block, in elements.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, incoming Recv, count_array Counts, displs_array<Counts> Displs>
    requires same_element<Send, Recv>
[[nodiscard]] operation neighbor_allgatherv(Send&& send_buffer, Recv&& recv_buffer, Counts&& recv_counts,
                                            Displs&& recv_displs, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{frontend::neighbor_allgatherv(from.buffer, from.count, from.type, into.buffer,
                                                   std::ranges::data(recv_counts), std::ranges::data(recv_displs),
                                                   into.type, comm)};
}

/// Alltoall with counts for each rank.
/// @param send_buffer  the send buffer.
/// @param send_counts  number of elements for each rank.
/// @param send_displs  displacement of each block, in elements.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each rank.
/// @param recv_displs  displacement of each block, in elements.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, count_array Counts, displs_array<Counts> Displs, incoming Recv, count_array RecvCounts,
          displs_array<RecvCounts> RecvDispls>
    requires same_element<Send, Recv> && same_counts<Counts, RecvCounts>
[[nodiscard]] operation alltoallv(Send&& send_buffer, Counts&& send_counts, Displs&& send_displs, Recv&& recv_buffer,
                                  RecvCounts&& recv_counts, RecvDispls&& recv_displs, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{frontend::alltoallv(from.buffer, std::ranges::data(send_counts), std::ranges::data(send_displs),
                                         from.type, into.buffer, std::ranges::data(recv_counts),
                                         std::ranges::data(recv_displs), into.type, comm)};
}

/// Neighbor alltoall with counts for each neighbor.
/// @param send_buffer  the send buffer.
/// @param send_counts  number of elements for each neighbor.
/// @param send_displs  displacement of each block, in elements.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each neighbor.
/// @param recv_displs  displacement of each block, in elements.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, count_array Counts, displs_array<Counts> Displs, incoming Recv, count_array RecvCounts,
          displs_array<RecvCounts> RecvDispls>
    requires same_element<Send, Recv> && same_counts<Counts, RecvCounts>
[[nodiscard]] operation neighbor_alltoallv(Send&& send_buffer, Counts&& send_counts, Displs&& send_displs,
                                           Recv&& recv_buffer, RecvCounts&& recv_counts, RecvDispls&& recv_displs,
                                           MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{frontend::neighbor_alltoallv(
        from.buffer, std::ranges::data(send_counts), std::ranges::data(send_displs), from.type, into.buffer,
        std::ranges::data(recv_counts), std::ranges::data(recv_displs), into.type, comm)};
}

/// Alltoall with counts and datatypes for each rank; displacements are in bytes.
/// @param send_buffer  the send buffer.
/// @param send_counts  number of elements for each rank.
/// @param send_displs  displacement of each block, in bytes.
/// @param send_types  datatype of the elements for each rank.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each rank.
/// @param recv_displs  displacement of each block, in bytes.
/// @param recv_types  datatype of the elements from each rank.
/// @param comm  the communicator.
/// @return the operation, for post().
template <count_array Counts, displs_array<Counts> Displs, type_array Types, count_array RecvCounts,
          displs_array<RecvCounts> RecvDispls, type_array RecvTypes>
    requires same_counts<Counts, RecvCounts>
[[nodiscard]] operation alltoallw(const void* send_buffer, Counts&& send_counts, Displs&& send_displs,
                                  Types&& send_types, void* recv_buffer, RecvCounts&& recv_counts,
                                  RecvDispls&& recv_displs, RecvTypes&& recv_types, MPI_Comm comm) noexcept {
    return operation{frontend::alltoallw(send_buffer, std::ranges::data(send_counts), std::ranges::data(send_displs),
                                         std::ranges::data(send_types), recv_buffer, std::ranges::data(recv_counts),
                                         std::ranges::data(recv_displs), std::ranges::data(recv_types), comm)};
}

/// Neighbor alltoall with counts and datatypes for each neighbor; displacements are in bytes.
/// @param send_buffer  the send buffer.
/// @param send_counts  number of elements for each neighbor.
/// @param send_displs  displacement of each block, in bytes.
/// @param send_types  datatype of the elements for each neighbor.
/// @param recv_buffer  the receive buffer.
/// @param recv_counts  number of elements from each neighbor.
/// @param recv_displs  displacement of each block, in bytes.
/// @param recv_types  datatype of the elements from each neighbor.
/// @param comm  the communicator.
/// @return the operation, for post().
template <count_array Counts, aint_array Displs, type_array Types, count_array RecvCounts, aint_array RecvDispls,
          type_array RecvTypes>
    requires same_counts<Counts, RecvCounts>
[[nodiscard]] operation neighbor_alltoallw(const void* send_buffer, Counts&& send_counts, Displs&& send_displs,
                                           Types&& send_types, void* recv_buffer, RecvCounts&& recv_counts,
                                           RecvDispls&& recv_displs, RecvTypes&& recv_types, MPI_Comm comm) noexcept {
    return operation{frontend::neighbor_alltoallw(send_buffer, std::ranges::data(send_counts),
                                                  std::ranges::data(send_displs), std::ranges::data(send_types),
                                                  recv_buffer, std::ranges::data(recv_counts),
                                                  std::ranges::data(recv_displs), std::ranges::data(recv_types), comm)};
}

} // namespace commtask
