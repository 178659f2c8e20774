// SPDX-License-Identifier: Apache-2.0
//
// Collective operations with a single count, as values for post(). They are ordered by default:
// every rank starts them in the order in which it posted them. Both buffers of a collective have
// one element type. If a range cannot describe a buffer, use elements() or the C interface.
#pragma once

#include <commtask/operation.hpp>

#include <string>

namespace commtask {

/// @cond
namespace frontend {

inline void same_count(const const_block& left, const block& right, const char* name) {
    if (left.count == right.count && left.type == right.type) return;
    throw error{left.count == right.count ? COMMTASK_ERR_TYPE : COMMTASK_ERR_COUNT,
                std::string{name} + ": both buffers must have the same number of elements of the same datatype (" +
                    std::to_string(left.count) + " and " + std::to_string(right.count) + " elements)"};
}

/// Checks that a buffer holds a whole number of blocks of `n` elements, before MPI writes to it.
inline void whole_blocks(MPI_Count count, MPI_Count n, const char* name) {
    if (n == 0 ? count == 0 : (n > 0 && count % n == 0)) return;
    throw error{COMMTASK_ERR_COUNT, std::string{name} + ": " + std::to_string(count) +
                                        " elements are no whole number of blocks of " + std::to_string(n)};
}

} // namespace frontend
/// @endcond

/// Barrier.
/// @param comm  the communicator.
/// @return the operation, for post().
[[nodiscard]] inline operation barrier(MPI_Comm comm) noexcept { return operation{commtask_op_barrier(comm)}; }

/// Broadcast.
/// @param buffer  at the root the data to send, elsewhere the receive buffer.
/// @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Buffer>
[[nodiscard]] operation bcast(Buffer&& buffer, int root, MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Buffer>(buffer));
    return operation{commtask_op_bcast(both.buffer, both.count, both.type, root, comm)};
}

/// Gather: every rank sends all of its buffer.
/// @param send_buffer  this rank's block.
/// @param recv_buffer  at the root as many blocks as there are ranks; elsewhere it may be empty.
/// @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if `recv_buffer` does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation gather(Send&& send_buffer, Recv&& recv_buffer, int root, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(into.count, from.count, "gather");
    const MPI_Count count = into.count == 0 ? 0 : from.count;
    return operation{commtask_op_gather(from.buffer, from.count, from.type, into.buffer, count, into.type, root, comm)};
}

/// Scatter: every rank receives as many elements as its buffer holds.
/// @param send_buffer  at the root as many blocks as there are ranks; elsewhere it may be empty.
/// @param recv_buffer  this rank's block.
/// @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if `send_buffer` does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation scatter(Send&& send_buffer, Recv&& recv_buffer, int root, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(from.count, into.count, "scatter");
    const MPI_Count count = from.count == 0 ? 0 : into.count;
    return operation{
        commtask_op_scatter(from.buffer, count, from.type, into.buffer, into.count, into.type, root, comm)};
}

/// Allgather: every rank sends all of its buffer.
/// @param send_buffer  this rank's block.
/// @param recv_buffer  as many blocks as there are ranks.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if `recv_buffer` does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation allgather(Send&& send_buffer, Recv&& recv_buffer, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(into.count, from.count, "allgather");
    return operation{
        commtask_op_allgather(from.buffer, from.count, from.type, into.buffer, from.count, into.type, comm)};
}

/// Neighbor allgather: every rank sends all of its buffer.
/// @param send_buffer  this rank's block.
/// @param recv_buffer  as many blocks as there are neighbors that send to this rank.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if `recv_buffer` does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation neighbor_allgather(Send&& send_buffer, Recv&& recv_buffer, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(into.count, from.count, "neighbor_allgather");
    return operation{
        commtask_op_neighbor_allgather(from.buffer, from.count, from.type, into.buffer, from.count, into.type, comm)};
}

/// Alltoall with equal blocks.
/// @param send_buffer  one block for each rank.
/// @param recv_buffer  one block from each rank.
/// @param block_count  number of elements of a block.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if a buffer does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation alltoall(Send&& send_buffer, Recv&& recv_buffer, MPI_Count block_count, MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(from.count, block_count, "alltoall");
    frontend::whole_blocks(into.count, block_count, "alltoall");
    return operation{
        commtask_op_alltoall(from.buffer, block_count, from.type, into.buffer, block_count, into.type, comm)};
}

/// Neighbor alltoall with equal blocks.
/// @param send_buffer  one block for each neighbor that receives from this rank.
/// @param recv_buffer  one block from each neighbor that sends to this rank.
/// @param block_count  number of elements of a block.
/// @param comm  the communicator.
/// @return the operation, for post().
/// @throws error  if a buffer does not hold a whole number of blocks.
template <outgoing Send, incoming Recv>
    requires same_element<Send, Recv>
[[nodiscard]] operation neighbor_alltoall(Send&& send_buffer, Recv&& recv_buffer, MPI_Count block_count,
                                          MPI_Comm comm) {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    frontend::whole_blocks(from.count, block_count, "neighbor_alltoall");
    frontend::whole_blocks(into.count, block_count, "neighbor_alltoall");
    return operation{
        commtask_op_neighbor_alltoall(from.buffer, block_count, from.type, into.buffer, block_count, into.type, comm)};
}

} // namespace commtask
