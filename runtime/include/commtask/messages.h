/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Point-to-point operations: sends, receives, send-receives, and matched probes with their
 * receives. */
#ifndef COMMTASK_MESSAGES_H
#define COMMTASK_MESSAGES_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Standard send.
 *  @param buffer  the send buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param dest  rank of the destination
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_send(const void* buffer, MPI_Count count, MPI_Datatype type,
                                                              int dest, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SEND, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = dest;
    op.send_tag = tag;
    return op;
}

/** Synchronous send: ends when the receive has started.
 *  @param buffer  the send buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param dest  rank of the destination
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_ssend(const void* buffer, MPI_Count count, MPI_Datatype type,
                                                               int dest, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SSEND, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = dest;
    op.send_tag = tag;
    return op;
}

/** Buffered send, from the buffer of MPI_Buffer_attach.
 *  @param buffer  the send buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param dest  rank of the destination
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_bsend(const void* buffer, MPI_Count count, MPI_Datatype type,
                                                               int dest, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_BSEND, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = dest;
    op.send_tag = tag;
    return op;
}

/** Ready send: the receive must be posted already.
 *  @param buffer  the send buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param dest  rank of the destination
 *  @param tag  tag of the message
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_rsend(const void* buffer, MPI_Count count, MPI_Datatype type,
                                                               int dest, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_RSEND, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = dest;
    op.send_tag = tag;
    return op;
}

/** Receive.
 *  @param buffer  the receive buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param source  rank of the source, or MPI_ANY_SOURCE
 *  @param tag  tag of the message, or MPI_ANY_TAG
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_recv(void* buffer, MPI_Count count, MPI_Datatype type,
                                                              int source, int tag, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_RECV, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.source = source;
    op.recv_tag = tag;
    return op;
}

/** Sends one message and receives another; ends when both have ended. The status is the receive's.
 *  @param send_buffer  the send buffer
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param dest  rank of the destination
 *  @param send_tag  tag of the message sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param source  rank of the source, or MPI_ANY_SOURCE
 *  @param recv_tag  tag of the message received, or MPI_ANY_TAG
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_sendrecv(const void* send_buffer, MPI_Count send_count,
                                                                  MPI_Datatype send_type, int dest, int send_tag,
                                                                  void* recv_buffer, MPI_Count recv_count,
                                                                  MPI_Datatype recv_type, int source, int recv_tag,
                                                                  MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SENDRECV, comm);
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.peer = dest;
    op.send_tag = send_tag;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    op.source = source;
    op.recv_tag = recv_tag;
    return op;
}

/** Sends a buffer and receives another message into it. The status is the receive's.
 *  @param buffer  the data to send, then the received data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param dest  rank of the destination
 *  @param send_tag  tag of the message sent
 *  @param source  rank of the source, or MPI_ANY_SOURCE
 *  @param recv_tag  tag of the message received, or MPI_ANY_TAG
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_sendrecv_replace(void* buffer, MPI_Count count,
                                                                          MPI_Datatype type, int dest, int send_tag,
                                                                          int source, int recv_tag,
                                                                          MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SENDRECV_REPLACE, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.peer = dest;
    op.send_tag = send_tag;
    op.source = source;
    op.recv_tag = recv_tag;
    return op;
}

/** Matched probe, as MPI_Mprobe: waits for a message, which only mrecv can receive then. The status
 *  has its size.
 *  @param message  written when the task completes; give it to commtask_op_mrecv
 *  @param source  rank of the source, or MPI_ANY_SOURCE
 *  @param tag  tag of the message, or MPI_ANY_TAG
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_mprobe(MPI_Message* message, int source, int tag,
                                                                MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_MPROBE, comm);
    op.result = message;
    op.source = source;
    op.recv_tag = tag;
    return op;
}

/** Receives the message of an mprobe.
 *  @param buffer  the receive buffer
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param message  from the mprobe, read when the task starts; set to MPI_MESSAGE_NULL
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_mrecv(void* buffer, MPI_Count count, MPI_Datatype type,
                                                               MPI_Message* message, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_MRECV, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.result = message;
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
