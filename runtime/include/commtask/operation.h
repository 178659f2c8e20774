/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation as a value, and the messages among the operations. A commtask_op_ function describes what to do;
 * commtask_post does it. One struct for all kinds: it is copied once when posted, whatever the kind. */
#ifndef COMMTASK_OPERATION_H
#define COMMTASK_OPERATION_H

#include <commtask/types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What kind of operation; one for each family of MPI functions. */
typedef enum commtask_kind {
    COMMTASK_OP_SEND = 1,                  /**< commtask_op_send */
    COMMTASK_OP_SSEND = 2,                 /**< commtask_op_ssend */
    COMMTASK_OP_BSEND = 3,                 /**< commtask_op_bsend */
    COMMTASK_OP_RSEND = 4,                 /**< commtask_op_rsend */
    COMMTASK_OP_RECV = 5,                  /**< commtask_op_recv */
    COMMTASK_OP_SENDRECV = 6,              /**< commtask_op_sendrecv */
    COMMTASK_OP_SENDRECV_REPLACE = 7,      /**< commtask_op_sendrecv_replace */
    COMMTASK_OP_MPROBE = 8,                /**< commtask_op_mprobe */
    COMMTASK_OP_MRECV = 9,                 /**< commtask_op_mrecv */
    COMMTASK_OP_BARRIER = 10,              /**< commtask_op_barrier */
    COMMTASK_OP_BCAST = 11,                /**< commtask_op_bcast */
    COMMTASK_OP_GATHER = 12,               /**< commtask_op_gather */
    COMMTASK_OP_GATHERV = 13,              /**< commtask_op_gatherv */
    COMMTASK_OP_SCATTER = 14,              /**< commtask_op_scatter */
    COMMTASK_OP_SCATTERV = 15,             /**< commtask_op_scatterv */
    COMMTASK_OP_ALLGATHER = 16,            /**< commtask_op_allgather */
    COMMTASK_OP_ALLGATHERV = 17,           /**< commtask_op_allgatherv */
    COMMTASK_OP_ALLTOALL = 18,             /**< commtask_op_alltoall */
    COMMTASK_OP_ALLTOALLV = 19,            /**< commtask_op_alltoallv */
    COMMTASK_OP_ALLTOALLW = 20,            /**< commtask_op_alltoallw */
    COMMTASK_OP_REDUCE = 21,               /**< commtask_op_reduce */
    COMMTASK_OP_ALLREDUCE = 22,            /**< commtask_op_allreduce */
    COMMTASK_OP_REDUCE_SCATTER = 23,       /**< commtask_op_reduce_scatter */
    COMMTASK_OP_REDUCE_SCATTER_BLOCK = 24, /**< commtask_op_reduce_scatter_block */
    COMMTASK_OP_SCAN = 25,                 /**< commtask_op_scan */
    COMMTASK_OP_EXSCAN = 26,               /**< commtask_op_exscan */
    COMMTASK_OP_NEIGHBOR_ALLGATHER = 27,   /**< commtask_op_neighbor_allgather */
    COMMTASK_OP_NEIGHBOR_ALLGATHERV = 28,  /**< commtask_op_neighbor_allgatherv */
    COMMTASK_OP_NEIGHBOR_ALLTOALL = 29,    /**< commtask_op_neighbor_alltoall */
    COMMTASK_OP_NEIGHBOR_ALLTOALLV = 30,   /**< commtask_op_neighbor_alltoallv */
    COMMTASK_OP_NEIGHBOR_ALLTOALLW = 31,   /**< commtask_op_neighbor_alltoallw */
    COMMTASK_OP_COMM_DUP = 32,             /**< commtask_op_comm_dup */
    COMMTASK_OP_START = 33,                /**< commtask_op_start */
    COMMTASK_OP_CALL = 34,                 /**< commtask_op_call */
    COMMTASK_OP_ATTACH = 35,               /**< commtask_op_attach */
    COMMTASK_OP_NOOP = 36,                 /**< commtask_op_noop */
    COMMTASK_OP_END = 37                   /**< one past the last */
} commtask_kind;

/** How an operation's arrays of counts and displacements are stored. */
enum {
    COMMTASK_COUNTS_LARGE = 0, /**< MPI_Count and MPI_Aint. */
    COMMTASK_COUNTS_INT = 1    /**< int (neighbor_alltoallw: displacements are MPI_Aint all the same). */
};

/* Unnamed unions are C11 and C++; compilers have them in C99 too, and say so under -Wpedantic unless told that it is meant. */

/** One side of an operation: what is sent, or where it is received. */
typedef struct commtask_side {
    const void* buffer;
    __extension__ union {
        MPI_Count count;
        const void* counts;
    };
    const void* displs;
    __extension__ union {
        MPI_Datatype type;
        const MPI_Datatype* types;
    };
} commtask_side;

/** An operation as a value. Make it with a commtask_op_ function and do not look inside: fields may be added. */
typedef struct commtask_op {
    uint16_t kind;       /**< commtask_kind */
    uint16_t array_form; /**< COMMTASK_COUNTS_LARGE or _INT; of a request handed over: its kind, or 0 */
    int peer;            /**< destination or root */
    MPI_Comm comm;
    commtask_side send;
    commtask_side recv; /**< `recv.buffer` is written; it is const here because both sides share a type. */
    int source;
    int send_tag;
    int recv_tag;
    int reserved;
    void* result; /**< new communicator, message, request, or a function's argument */
    __extension__ union {
        MPI_Op reduction;
        commtask_start_function start;
        commtask_call_function call;
    };
} commtask_op;

/** The common beginning of all operations; not for callers.
 *  @param kind  of the operation
 *  @param comm  its communicator
 *  @return an operation with neither buffers nor peers. */
static inline commtask_op commtask_op_make_(commtask_kind kind, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op;
    memset(&op, 0, sizeof op);
    op.kind = (uint16_t)kind;
    op.comm = comm;
    return op;
}

/** Standard send.
 *  @param buffer  what to send
 *  @param count  elements
 *  @param type  of one element
 *  @param dest  the rank that receives
 *  @param tag  of the message
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
 *  @param buffer  what to send
 *  @param count  elements
 *  @param type  of one element
 *  @param dest  the rank that receives
 *  @param tag  of the message
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

/** Buffered send, from the buffer that MPI_Buffer_attach gave.
 *  @param buffer  what to send
 *  @param count  elements
 *  @param type  of one element
 *  @param dest  the rank that receives
 *  @param tag  of the message
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
 *  @param buffer  what to send
 *  @param count  elements
 *  @param type  of one element
 *  @param dest  the rank that receives
 *  @param tag  of the message
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
 *  @param buffer  where to receive
 *  @param count  elements
 *  @param type  of one element
 *  @param source  the rank that sends, or MPI_ANY_SOURCE
 *  @param tag  of the message, or MPI_ANY_TAG
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

/** Sends one message and receives another; ends when both are done. The status is the receive's.
 *  @param send_buffer  what to send
 *  @param send_count  elements
 *  @param send_type  of one element sent
 *  @param dest  the rank that receives
 *  @param send_tag  of the message sent
 *  @param recv_buffer  where to receive
 *  @param recv_count  elements
 *  @param recv_type  of one element received
 *  @param source  the rank that sends, or MPI_ANY_SOURCE
 *  @param recv_tag  of the message received, or MPI_ANY_TAG
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
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    op.peer = dest;
    op.send_tag = send_tag;
    op.source = source;
    op.recv_tag = recv_tag;
    return op;
}

/** Sends a buffer and receives another message into it. The status is the receive's.
 *  @param buffer  what to send, then what was received
 *  @param count  elements
 *  @param type  of one element
 *  @param dest  the rank that receives
 *  @param send_tag  of the message sent
 *  @param source  the rank that sends, or MPI_ANY_SOURCE
 *  @param recv_tag  of the message received, or MPI_ANY_TAG
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

/** Waits for a matching message and takes it out of the queue; its size is in the status.
 *  @param message  written when the task completes; give it to commtask_op_mrecv
 *  @param source  the rank that sends, or MPI_ANY_SOURCE
 *  @param tag  of the message, or MPI_ANY_TAG
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

/** Receives a message that an mprobe took.
 *  @param buffer  where to receive
 *  @param count  elements
 *  @param type  of one element
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
