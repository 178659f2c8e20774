/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Operations of many messages: one buffer to many ranks, blocks to and from the ranks of lists,
 * and partitioned sends and receives. The messages of multicast and many_to_many match any send
 * and receive. Lists of ranks, counts and displacements may be reused when the post has
 * returned. */
#ifndef COMMTASK_MANY_H
#define COMMTASK_MANY_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sends one buffer to each rank of a list, as one task. The destinations receive it by any
 *  receive.
 *  @param buffer  the send buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param dests  ranks of the destinations; MPI_PROC_NULL: no message
 *  @param n_dests  number of destinations
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_multicast(const void* buffer, MPI_Count count,
                                                                   MPI_Datatype type, const int dests[], int n_dests,
                                                                   int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_MULTICAST, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.dests = dests;
    op.peer = n_dests;
    op.send_tag = tag;
    return op;
}

/** Sends a block to each rank of a list and receives a block from each rank of another list, as one
 *  task. The other ranks may use any sends and receives. The status has the bytes of all received
 *  blocks. Counts are MPI_Count and displacements MPI_Aint, as in MPI-4's _c functions.
 *  @param send_buffer  the send buffer
 *  @param send_counts  number of elements for each rank
 *  @param send_displs  displacement of the block for each rank, in elements
 *  @param send_type  datatype of one element sent
 *  @param dests  ranks of the destinations; MPI_PROC_NULL: no message
 *  @param n_dests  number of destinations
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each rank
 *  @param recv_displs  displacement of the block from each rank, in elements
 *  @param recv_type  datatype of one element received
 *  @param sources  ranks of the sources; MPI_PROC_NULL: no message
 *  @param n_sources  number of sources
 *  @param tag  tag of all messages, sent and received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_many_to_many(
    const void* send_buffer, const MPI_Count send_counts[], const MPI_Aint send_displs[], MPI_Datatype send_type,
    const int dests[], int n_dests, void* recv_buffer, const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
    MPI_Datatype recv_type, const int sources[], int n_sources, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_MANY_TO_MANY, comm);
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.type = send_type;
    op.dests = dests;
    op.peer = n_dests;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    op.sources = sources;
    op.source = n_sources;
    op.send_tag = tag;
    return op;
}

/** Sends a block to each rank of a list and receives a block from each rank of another list, as one
 *  task. The other ranks may use any sends and receives. The status has the bytes of all received
 *  blocks. Counts and displacements are int, as in MPI-3.1.
 *  @param send_buffer  the send buffer
 *  @param send_counts  number of elements for each rank
 *  @param send_displs  displacement of the block for each rank, in elements
 *  @param send_type  datatype of one element sent
 *  @param dests  ranks of the destinations; MPI_PROC_NULL: no message
 *  @param n_dests  number of destinations
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each rank
 *  @param recv_displs  displacement of the block from each rank, in elements
 *  @param recv_type  datatype of one element received
 *  @param sources  ranks of the sources; MPI_PROC_NULL: no message
 *  @param n_sources  number of sources
 *  @param tag  tag of all messages, sent and received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_many_to_many_int(
    const void* send_buffer, const int send_counts[], const int send_displs[], MPI_Datatype send_type,
    const int dests[], int n_dests, void* recv_buffer, const int recv_counts[], const int recv_displs[],
    MPI_Datatype recv_type, const int sources[], int n_sources, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_MANY_TO_MANY, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.type = send_type;
    op.dests = dests;
    op.peer = n_dests;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    op.sources = sources;
    op.source = n_sources;
    op.send_tag = tag;
    return op;
}

/** Partitioned send, for plans only: commtask_plan_pready_range marks its partitions ready. The
 *  receiver records a precv.
 *  @param buffer  the send buffer
 *  @param n_partitions  number of equal partitions of the buffer; the other side may have another
 *  number
 *  @param count  number of elements of each partition
 *  @param type  datatype of one element
 *  @param dest  rank of the destination
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_psend(const void* buffer, int n_partitions, MPI_Count count,
                                                               MPI_Datatype type, int dest, int tag,
                                                               MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_PSEND, comm);
    op.send.buffer = buffer;
    op.recv.count = n_partitions;
    op.send.count = count;
    op.send.type = type;
    op.peer = dest;
    op.send_tag = tag;
    return op;
}

/** Partitioned receive, for plans only: commtask_plan_parrived tests its partitions. The sender
 *  records a psend of as many bytes.
 *  @param buffer  the receive buffer
 *  @param n_partitions  number of equal partitions of the buffer; the other side may have another
 *  number
 *  @param count  number of elements of each partition
 *  @param type  datatype of one element
 *  @param source  rank of the source
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_precv(void* buffer, int n_partitions, MPI_Count count,
                                                               MPI_Datatype type, int source, int tag,
                                                               MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_PRECV, comm);
    op.recv.buffer = buffer;
    op.send.count = n_partitions;
    op.recv.count = count;
    op.recv.type = type;
    op.source = source;
    op.recv_tag = tag;
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
