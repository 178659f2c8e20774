/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation as a value. A commtask_op_ function of <commtask/operations.h> makes it, and
 * commtask_post posts it. All kinds share one struct, which is copied once when posted. */
#ifndef COMMTASK_OPERATION_H
#define COMMTASK_OPERATION_H

#include <commtask/kinds.h>
#include <commtask/types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Element type of an operation's arrays of counts and displacements. */
enum {
    COMMTASK_COUNTS_LARGE = 0, /**< MPI_Count counts, MPI_Aint displacements. */
    COMMTASK_COUNTS_INT = 1    /**< int; for neighbor_alltoallw the displacements are MPI_Aint. */
};

/* Unnamed unions are C11 and C++. Compilers accept them in C99, too, and warn under -Wpedantic;
 * __extension__ silences the warning. */

/** One side of an operation: the send buffer or the receive buffer. */
typedef struct commtask_side {
    const void* buffer;
    __extension__ union {
        MPI_Count count;
        const void* counts;
    };
    const void* displs; /**< One for each rank; in one-sided and file operations the value of the only displacement. */
    __extension__ union {
        MPI_Datatype type;
        const MPI_Datatype* types;
    };
} commtask_side;

/** An operation as a value. Make it with a commtask_op_ function; its fields are not public. The
 *  layout is frozen, since compiled programs contain it and it has no size field. An operation that
 *  needs further fields has a struct of its own, to which `result` points. Such a struct begins
 *  with `struct_size`; like a buffer it belongs to the task until the task has ended. */
typedef struct commtask_op {
    uint16_t kind;       /**< commtask_kind */
    uint16_t array_form; /**< COMMTASK_COUNTS_LARGE or _INT; for commtask_op_attach the kind of the request, or 0 */
    int peer;            /**< destination or root */
    MPI_Comm comm;
    commtask_side send;
    commtask_side recv; /**< `recv.buffer` is written; it is const here because both sides share a type. */
    int source;
    int send_tag;
    int recv_tag;
    int reserved; /**< 0 */
    __extension__ union {
        void* result;     /* new communicator, message, request, window, file, argument of a function, or a struct */
        const int* dests; /* destination ranks; `peer` is their number */
    };
    __extension__ union {
        const int* sources; /* source ranks; their number is in the field `source` */
        MPI_Op reduction;
        commtask_start_function start;
        commtask_call_function call;
    };
} commtask_op;

/** Initializes an operation. Internal.
 *  @param kind  of the operation
 *  @param comm  its communicator
 *  @return an operation without buffers and peers. */
static inline commtask_op commtask_op_make_(commtask_kind kind, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op;
    memset(&op, 0, sizeof op);
    op.kind = (uint16_t)kind;
    op.comm = comm;
    return op;
}

/** Stores the handle of a window or a file in an operation. Internal.
 *  @param result  the field of the operation
 *  @param handle  pointer to the handle
 *  @param size_bytes  size of the handle */
static inline void commtask_op_keep_handle_(void** result, const void* handle, size_t size_bytes) COMMTASK_NOEXCEPT {
    *result = (void*)0;
    memcpy((void*)result, handle, size_bytes);
}

/** Stores a displacement or an offset in an operation. Internal.
 *  @param displs  the field of its side
 *  @param value  the displacement */
static inline void commtask_op_keep_displacement_(const void** displs, int64_t value) COMMTASK_NOEXCEPT {
    const intptr_t kept = (intptr_t)value;
    memcpy((void*)displs, &kept, sizeof kept);
}

#ifdef __cplusplus
}
#endif
#endif
