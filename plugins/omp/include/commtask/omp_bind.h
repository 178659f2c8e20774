/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds communication to the OpenMP task in whose body it is started: the task is complete, and its
 * dependents run, when its body and all operations bound to it have ended. One OpenMP task can have
 * any number of messages, with depend clauses as any other task.
 * The program must be linked with libcommtask-omp-bind in front of libomp, or run with
 * libcommtask-omp-bind in LD_PRELOAD. Then operations can be bound to the program's tasks;
 * docs/bind.md has the rules for each kind of task. */
#ifndef COMMTASK_OMP_BIND_H
#define COMMTASK_OMP_BIND_H

#include <commtask/commtask.h>

#ifdef __cplusplus
extern "C" {
#endif

struct commtask_omp_options;

/** Starts an operation and binds it to the current task.
 *  Operations cannot be bound to a task that its creator runs at once (`final`, `if` with a false
 *  condition, a task that an explicit task creates in a team of one thread), nor to a task with a
 *  detach clause. There the thread waits after the task's body, and runs other tasks meanwhile.
 *  Outside of explicit tasks the thread waits in this call.
 *  @param operation  the operation; copied.
 *  @param options    order, status, ticket; null: defaults. Without a ticket, the position in
 *                    program order is that of this call.
 *  @return COMMTASK_OK; ERR_RUNTIME: operations cannot be bound to tasks (commtask_omp_bind_check),
 *          or not to this task, since libcommtask-omp-bind did not see its creation;
 *          ERR_WORKER_THREAD: called in a callback, outside of a task; or the code of a wrong
 *          argument. The status and the error handler get the error too; the task continues
 *          without the operation.
 *  @buffers As for commtask_post, until the task's dependents run; so the status cannot be a
 *           local variable of the task. If MPI can start the operation now, the operation has been
 *           started when the call returns.
 *  @blocking As commtask_omp_start; outside of explicit tasks until the operation has ended. */
COMMTASK_API int commtask_omp_bind_operation(const commtask_op* operation,
                                             const struct commtask_omp_options* options) COMMTASK_NOEXCEPT;

/** Calls commtask_omp_bind_operation with default options, for an operation that is an argument by
 *  value.
 *  @param operation  the operation.
 *  @return as commtask_omp_bind_operation. */
static inline int commtask_omp_bind(commtask_op operation) COMMTASK_NOEXCEPT {
    return commtask_omp_bind_operation(&operation, (const struct commtask_omp_options*)0);
}

/** Binds requests that the program started itself to the current task. For a status, use
 *  commtask_omp_bind_operation with commtask_op_attach.
 *  @param n_requests  the number of requests.
 *  @param requests    of active operations, not persistent ones; each becomes MPI_REQUEST_NULL.
 *                     Null requests are skipped.
 *  @return as commtask_omp_bind_operation; ERR_ARGUMENT: the list is null. If a request is refused,
 *          the requests before it are bound, and this request and all later ones still belong to
 *          the program.
 *  @buffers As for commtask_omp_bind_operation; the list itself can be reused when the call
 *           returns.
 *  @blocking As commtask_omp_bind_operation; outside of explicit tasks until all requests have
 *            ended.
 *  @threads Threads that start requests and the worker call MPI at the same time, which needs
 *           MPI_THREAD_MULTIPLE. */
COMMTASK_API int commtask_omp_bind_requests(size_t n_requests, MPI_Request* requests) COMMTASK_NOEXCEPT;

/** Calls commtask_omp_bind_requests for one request.
 *  @param request  as for commtask_omp_bind_requests.
 *  @return as commtask_omp_bind_requests. */
static inline int commtask_omp_bind_request(MPI_Request* request) COMMTASK_NOEXCEPT {
    return commtask_omp_bind_requests(1, request);
}

/** Tests whether operations can be bound to tasks of this process.
 *  @return COMMTASK_OK; ERR_RUNTIME: commtask_omp_last_error() says why not, and how to fix that.
 *  @threads Any, at any time, also before commtask_init. */
COMMTASK_API int commtask_omp_bind_check(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
