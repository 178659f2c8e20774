/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * User-defined operations: a function that starts a request, a function that runs between MPI
 * calls, and a request that the program has started itself. Also the start of a plan. */
#ifndef COMMTASK_CUSTOM_H
#define COMMTASK_CUSTOM_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Runs a function that starts any MPI operation with a request: MPI-IO, MPI_Rput, MPI_Start of a
 *  persistent request, ...
 *  @param function  starts the operation, on the worker; its request belongs to the library until
 *  it is complete
 *  @param argument  argument of the function; must live until the task has ended
 *  @param comm  the communicator in whose order the task starts
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_start(commtask_start_function function, void* argument,
                                                               MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_START, comm);
    op.start = function;
    op.result = argument;
    return op;
}

/** Runs a function between MPI calls, for example MPI_Comm_free, which has no operation.
 *  @param function  runs on the worker; must not wait for another task
 *  @param argument  argument of the function; must live until the task has ended
 *  @param comm  the communicator in whose order the task starts
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_call(commtask_call_function function, void* argument,
                                                              MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_CALL, comm);
    op.call = function;
    op.result = argument;
    return op;
}

/** Takes over the request of an operation that the program has started itself.
 *  @param request  of an active operation; commtask_post sets it to MPI_REQUEST_NULL, since the
 *  library completes it
 *  @param comm  the communicator of the request
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_attach(MPI_Request* request, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ATTACH, comm);
    op.result = request;
    return op;
}

/** Does nothing: joins predecessors, or measures the cost of a task.
 *  @param comm  the communicator in whose order the task starts
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_noop(MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_NOOP, comm);
    return op;
}

/** Starts a plan. The task ends when every member has ended.
 *  @param plan  a plan that is not running
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_plan(commtask_plan_t plan) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_PLAN, MPI_COMM_SELF);
    op.result = plan;
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
