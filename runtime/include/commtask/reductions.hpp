// SPDX-License-Identifier: Apache-2.0
//
// The reductions, as values for post(). Both buffers must have the same number of elements of the
// same datatype, since MPI would write past the end of the shorter buffer. The compiler checks it
// if it can; otherwise the function does.
#pragma once

#include <commtask/collectives.hpp>
#include <commtask/collectives_v.hpp>

namespace commtask {

/// Reduce.
/// @param send_buffer  the contribution.
/// @param recv_buffer  at the root the result, as long as the contribution; elsewhere it may be
///                     empty.
/// @param reduction  the reduction operation.
/// @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if the buffers differ in length or datatype.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation reduce(Send&& send_buffer, Recv&& recv_buffer, MPI_Op reduction, int root, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    if (into.count != 0) frontend::same_count(from, into, "reduce");
    return operation{commtask_op_reduce(from.buffer, into.buffer, from.count, from.type, reduction, root, comm)};
}

/// Reduce at the root, with the contribution in the receive buffer.
/// @param recv_buffer  the contribution, then the result.
/// @param reduction  the reduction operation.
/// @param root  this rank.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Recv>
[[nodiscard]] operation reduce(in_place_t /*in_place*/, Recv&& recv_buffer, MPI_Op reduction, int root,
                               MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{commtask_op_reduce(MPI_IN_PLACE, both.buffer, both.count, both.type, reduction, root, comm)};
}

/// Allreduce.
/// @param send_buffer  the contribution.
/// @param recv_buffer  the result, as long as the contribution.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if the buffers differ in length or datatype.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation allreduce(Send&& send_buffer, Recv&& recv_buffer, MPI_Op reduction, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::same_count(from, into, "allreduce");
    return operation{commtask_op_allreduce(from.buffer, into.buffer, from.count, from.type, reduction, comm)};
}

/// Allreduce with the contribution in the receive buffer.
/// @param recv_buffer  the contribution, then the result.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Recv>
[[nodiscard]] operation allreduce(in_place_t /*in_place*/, Recv&& recv_buffer, MPI_Op reduction,
                                  MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{commtask_op_allreduce(MPI_IN_PLACE, both.buffer, both.count, both.type, reduction, comm)};
}

/// Inclusive scan.
/// @param send_buffer  the contribution.
/// @param recv_buffer  the result, as long as the contribution.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if the buffers differ in length or datatype.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation scan(Send&& send_buffer, Recv&& recv_buffer, MPI_Op reduction, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::same_count(from, into, "scan");
    return operation{commtask_op_scan(from.buffer, into.buffer, from.count, from.type, reduction, comm)};
}

/// Inclusive scan with the contribution in the receive buffer.
/// @param recv_buffer  the contribution, then the result.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Recv>
[[nodiscard]] operation scan(in_place_t /*in_place*/, Recv&& recv_buffer, MPI_Op reduction, MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{commtask_op_scan(MPI_IN_PLACE, both.buffer, both.count, both.type, reduction, comm)};
}

/// Exclusive scan; the result of the first rank does not change.
/// @param send_buffer  the contribution.
/// @param recv_buffer  the result, as long as the contribution.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if the buffers differ in length or datatype.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation exscan(Send&& send_buffer, Recv&& recv_buffer, MPI_Op reduction, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::same_count(from, into, "exscan");
    return operation{commtask_op_exscan(from.buffer, into.buffer, from.count, from.type, reduction, comm)};
}

/// Exclusive scan with the contribution in the receive buffer.
/// @param recv_buffer  the contribution, then the result.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Recv>
[[nodiscard]] operation exscan(in_place_t /*in_place*/, Recv&& recv_buffer, MPI_Op reduction, MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{commtask_op_exscan(MPI_IN_PLACE, both.buffer, both.count, both.type, reduction, comm)};
}

/// Reduce-scatter with equal blocks.
/// @param send_buffer  one block for each rank.
/// @param recv_buffer  this rank's block of the result.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if `send_buffer` does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation reduce_scatter_block(Send&& send_buffer, Recv&& recv_buffer, MPI_Op reduction, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(from.count, into.count, "reduce_scatter_block");
    return operation{
        commtask_op_reduce_scatter_block(from.buffer, into.buffer, into.count, into.type, reduction, comm)};
}

/// Reduce-scatter with a count for each rank.
/// @param send_buffer  all blocks, one after the other.
/// @param recv_buffer  this rank's block of the result.
/// @param recv_counts  number of elements of each rank's block; an array of more than 16 entries
///                     must live until the task has ended.
/// @param reduction  the reduction operation.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, incoming Recv, count_array Counts>
    requires same_element<Send, Recv>
[[nodiscard]] operation reduce_scatter(Send&& send_buffer, Recv&& recv_buffer, Counts&& recv_counts, MPI_Op reduction,
                                       MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{
        frontend::reduce_scatter(from.buffer, into.buffer, std::ranges::data(recv_counts), into.type, reduction, comm)};
}

} // namespace commtask
