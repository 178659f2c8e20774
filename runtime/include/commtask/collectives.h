/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Collective operations with a single count. They are ordered by default: every rank starts them
 * in the order in which the rank posted them or took their tickets. The order must be the same
 * on all ranks. */
#ifndef COMMTASK_COLLECTIVES_H
#define COMMTASK_COLLECTIVES_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Barrier.
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_barrier(MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_BARRIER, comm);
    return op;
}

/** Broadcast.
 *  @param buffer  at the root the data to send, elsewhere the receive buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_bcast(void* buffer, MPI_Count count, MPI_Datatype type,
                                                               int root, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_BCAST, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.peer = root;
    return op;
}

/** Gather.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_gather(const void* send_buffer, MPI_Count send_count,
                                                                MPI_Datatype send_type, void* recv_buffer,
                                                                MPI_Count recv_count, MPI_Datatype recv_type, int root,
                                                                MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_GATHER, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    op.peer = root;
    return op;
}

/** Scatter.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_scatter(const void* send_buffer, MPI_Count send_count,
                                                                 MPI_Datatype send_type, void* recv_buffer,
                                                                 MPI_Count recv_count, MPI_Datatype recv_type, int root,
                                                                 MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SCATTER, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    op.peer = root;
    return op;
}

/** Allgather.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_allgather(const void* send_buffer, MPI_Count send_count,
                                                                   MPI_Datatype send_type, void* recv_buffer,
                                                                   MPI_Count recv_count, MPI_Datatype recv_type,
                                                                   MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ALLGATHER, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    return op;
}

/** Alltoall.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_alltoall(const void* send_buffer, MPI_Count send_count,
                                                                  MPI_Datatype send_type, void* recv_buffer,
                                                                  MPI_Count recv_count, MPI_Datatype recv_type,
                                                                  MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ALLTOALL, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    return op;
}

/** Reduce.
 *  @param send_buffer  the contribution; MPI_IN_PLACE where MPI allows it
 *  @param recv_buffer  the result
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param reduction  the reduction operation
 *  @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_reduce(const void* send_buffer, void* recv_buffer,
                                                                MPI_Count count, MPI_Datatype type, MPI_Op reduction,
                                                                int root, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_REDUCE, comm);
    op.send.buffer = send_buffer;
    op.recv.buffer = recv_buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.reduction = reduction;
    op.peer = root;
    return op;
}

/** Allreduce.
 *  @param send_buffer  the contribution; MPI_IN_PLACE where MPI allows it
 *  @param recv_buffer  the result
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param reduction  the reduction operation
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_allreduce(const void* send_buffer, void* recv_buffer,
                                                                   MPI_Count count, MPI_Datatype type, MPI_Op reduction,
                                                                   MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ALLREDUCE, comm);
    op.send.buffer = send_buffer;
    op.recv.buffer = recv_buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.reduction = reduction;
    return op;
}

/** Reduce-scatter with equal blocks.
 *  @param send_buffer  the contribution; MPI_IN_PLACE where MPI allows it
 *  @param recv_buffer  the result
 *  @param recv_count  number of elements of each rank's block
 *  @param type  datatype of one element
 *  @param reduction  the reduction operation
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_reduce_scatter_block(const void* send_buffer,
                                                                              void* recv_buffer, MPI_Count recv_count,
                                                                              MPI_Datatype type, MPI_Op reduction,
                                                                              MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_REDUCE_SCATTER_BLOCK, comm);
    op.send.buffer = send_buffer;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = type;
    op.reduction = reduction;
    return op;
}

/** Inclusive scan.
 *  @param send_buffer  the contribution; MPI_IN_PLACE where MPI allows it
 *  @param recv_buffer  the result
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param reduction  the reduction operation
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_scan(const void* send_buffer, void* recv_buffer,
                                                              MPI_Count count, MPI_Datatype type, MPI_Op reduction,
                                                              MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SCAN, comm);
    op.send.buffer = send_buffer;
    op.recv.buffer = recv_buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.reduction = reduction;
    return op;
}

/** Exclusive scan; the result of the first rank does not change.
 *  @param send_buffer  the contribution; MPI_IN_PLACE where MPI allows it
 *  @param recv_buffer  the result
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param reduction  the reduction operation
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_exscan(const void* send_buffer, void* recv_buffer,
                                                                MPI_Count count, MPI_Datatype type, MPI_Op reduction,
                                                                MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_EXSCAN, comm);
    op.send.buffer = send_buffer;
    op.recv.buffer = recv_buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.reduction = reduction;
    return op;
}

/** Neighbor allgather.
 *  @param send_buffer  the send buffer
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op
commtask_op_neighbor_allgather(const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type, void* recv_buffer,
                               MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_NEIGHBOR_ALLGATHER, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    return op;
}

/** Neighbor alltoall.
 *  @param send_buffer  the send buffer
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_neighbor_alltoall(const void* send_buffer,
                                                                           MPI_Count send_count, MPI_Datatype send_type,
                                                                           void* recv_buffer, MPI_Count recv_count,
                                                                           MPI_Datatype recv_type,
                                                                           MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_NEIGHBOR_ALLTOALL, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    return op;
}

/** Duplicates a communicator.
 *  @param new_comm  written when the task completes
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_comm_dup(MPI_Comm* new_comm, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_COMM_DUP, comm);
    op.result = new_comm;
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
