/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation as a value. A commtask_op_ function of <commtask/operations.h> describes what to do; commtask_post does
 * it. One struct for all kinds: it is copied once when posted, whatever the kind. */
#ifndef COMMTASK_OPERATION_H
#define COMMTASK_OPERATION_H

#include <commtask/kinds.h>
#include <commtask/types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    const void* displs; /**< Of each rank; of one-sided and file operations the one displacement itself. */
    __extension__ union {
        MPI_Datatype type;
        const MPI_Datatype* types;
    };
} commtask_side;

/** An operation as a value. Make it with a commtask_op_ function and do not look inside.
 *
 *  Its layout is frozen: compiled programs make it and hand it over, it has no size to tell releases apart by, and it fills
 *  the part of a task's slot that a submitter writes. No field is added or moved. What an operation needs beside these fields lies
 *  behind `result`: a struct of that operation alone, which begins with `size_t struct_size` (set by its _INIT macro) and so
 *  can grow, and which is the task's until it has ended, as buffers are. No function of a library takes an operation by value. */
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
    int reserved; /**< 0 */
    __extension__ union {
        void* result; /* new communicator, message, request, window, file, a function's argument, or what is beyond */
        const int* dests; /* ranks that messages go to; `peer` is their number */
    };
    __extension__ union {
        const int* sources; /* ranks that messages come from; `source` is their number */
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

/** Puts the handle of a window or a file into an operation; not for callers.
 *  @param result  the operation's field
 *  @param handle  where the handle is
 *  @param size_bytes  of it */
static inline void commtask_op_keep_handle_(void** result, const void* handle, size_t size_bytes) COMMTASK_NOEXCEPT {
    *result = (void*)0;
    memcpy((void*)result, handle, size_bytes);
}

/** Puts a displacement or an offset into an operation; not for callers.
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
