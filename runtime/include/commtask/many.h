/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Many messages by one operation: one buffer to many ranks, blocks to and from the ranks of a list, a buffer that
 * goes part by part. Who is at the other end need not know: multicast and many_to_many are plain messages, which
 * match any send and receive. Lists and arrays of more than 16 entries must live until the task has ended. */
#ifndef COMMTASK_MANY_H
#define COMMTASK_MANY_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One buffer to each rank of a list, as one task. The ranks post any receive.
 *  @param buffer  what to send
 *  @param count  elements
 *  @param type  of one element
 *  @param dests  the ranks that receive; MPI_PROC_NULL gets nothing
 *  @param n_dests  how many
 *  @param tag  of the message
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

/** A block to each rank of a list, and one from each rank of another list, as one task. The other ranks may use any
 *  sends and receives. The status has the bytes of all received blocks. Counts are MPI_Count and displacements
 *  MPI_Aint, as in MPI-4's _c functions.
 *  @param send_buffer  what to send
 *  @param send_counts  elements for each rank
 *  @param send_displs  where each block begins, in elements
 *  @param send_type  of one element sent
 *  @param dests  the ranks that receive; MPI_PROC_NULL gets nothing
 *  @param n_dests  how many
 *  @param recv_buffer  where to receive
 *  @param recv_counts  elements from each rank
 *  @param recv_displs  where each block goes, in elements
 *  @param recv_type  of one element received
 *  @param sources  the ranks that send; MPI_PROC_NULL sends nothing
 *  @param n_sources  how many
 *  @param tag  of all messages, sent and received
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

/** A block to each rank of a list, and one from each rank of another list, as one task. The other ranks may use any
 *  sends and receives. The status has the bytes of all received blocks. Counts and displacements are int, as in
 *  MPI-3.1.
 *  @param send_buffer  what to send
 *  @param send_counts  elements for each rank
 *  @param send_displs  where each block begins, in elements
 *  @param send_type  of one element sent
 *  @param dests  the ranks that receive; MPI_PROC_NULL gets nothing
 *  @param n_dests  how many
 *  @param recv_buffer  where to receive
 *  @param recv_counts  elements from each rank
 *  @param recv_displs  where each block goes, in elements
 *  @param recv_type  of one element received
 *  @param sources  the ranks that send; MPI_PROC_NULL sends nothing
 *  @param n_sources  how many
 *  @param tag  of all messages, sent and received
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

/** Send in partitions, which commtask_plan_pready_range releases. For plans only; the receiver records a precv.
 *  @param buffer  what to send
 *  @param n_partitions  into how many equal parts the buffer falls; the other side may have another number
 *  @param count  elements of each partition
 *  @param type  of one element
 *  @param dest  the rank that receives
 *  @param tag  of the message
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

/** Receive in partitions, which commtask_plan_parrived tests. For plans only; the sender records a psend of as
 *  many bytes.
 *  @param buffer  where to receive
 *  @param n_partitions  into how many equal parts the buffer falls; the other side may have another number
 *  @param count  elements of each partition
 *  @param type  of one element
 *  @param source  the rank that sends
 *  @param tag  of the message
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
