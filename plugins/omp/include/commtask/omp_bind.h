/* SPDX-License-Identifier: Apache-2.0
 *
 * Communication that holds the task in whose body it is started: the task is complete, and its dependents run, when its body
 * and all that it started have ended. One OpenMP task for any number of messages, with depend clauses as for any other
 * task. The program must be linked with libcommtask-omp-bind in front of libomp, or run with it in LD_PRELOAD, which makes
 * every task of the program one that can be held; docs/bind.md says what becomes of which kind of task. */
#ifndef COMMTASK_OMP_BIND_H
#define COMMTASK_OMP_BIND_H

#include <commtask/commtask.h>

#ifdef __cplusplus
extern "C" {
#endif

struct commtask_omp_options;

/** Starts an operation that holds the current task.
 *
 *  Where the task cannot be held, because its creator runs it at once (`final`, `if` with a false condition, a task that an
 *  explicit task creates in a team of one thread) or because it has a detach clause, the thread waits after its body, and
 *  runs other tasks meanwhile. Outside of explicit tasks it waits in this call.
 *  @param operation  what to do; copied.
 *  @param options    order, status, ticket; null: defaults. Without a ticket the operation takes its place now.
 *  @return COMMTASK_OK; ERR_RUNTIME: tasks are not bound (commtask_omp_bind_check), or this one is not, since code made it
 *          that libcommtask-omp-bind does not see; ERR_WORKER_THREAD: called in a callback, outside of a task; or why the
 *          operation was refused. The status and the error handler have it too; the task goes on without the operation.
 *  @buffers As for commtask_post, until the task's dependents run. The status too: it cannot be the task's own variable.
 *           An operation that MPI can start now is MPI's when the call returns.
 *  @blocking As commtask_omp_start; as long as the operation takes outside of explicit tasks. */
COMMTASK_API int commtask_omp_bind_operation(const commtask_op* operation,
                                             const struct commtask_omp_options* options) COMMTASK_NOEXCEPT;

/** commtask_omp_bind_operation with defaults, for an operation that is made in the same line.
 *  @param operation  what to do.
 *  @return as commtask_omp_bind_operation. */
static inline int commtask_omp_bind(commtask_op operation) COMMTASK_NOEXCEPT {
    return commtask_omp_bind_operation(&operation, (const struct commtask_omp_options*)0);
}

/** Lets requests that the program started itself hold the current task. Where a status is wanted, use
 *  commtask_omp_bind_operation with commtask_op_attach.
 *  @param n_requests  how many.
 *  @param requests    of active operations, not persistent ones; each becomes MPI_REQUEST_NULL. Those that are so are skipped.
 *  @return as commtask_omp_bind_operation; ERR_ARGUMENT: the list is null. What comes before a request that was refused holds the
 *          task, that one and what comes after it is the program's still.
 *  @buffers As for commtask_omp_bind_operation; the list itself is free again when the call returns.
 *  @blocking As commtask_omp_bind_operation; outside of explicit tasks until all have ended.
 *  @threads The threads that start requests and the worker are in MPI at the same time: MPI_THREAD_MULTIPLE. */
COMMTASK_API int commtask_omp_bind_requests(size_t n_requests, MPI_Request* requests) COMMTASK_NOEXCEPT;

/** commtask_omp_bind_requests for one.
 *  @param request  as there.
 *  @return as there. */
static inline int commtask_omp_bind_request(MPI_Request* request) COMMTASK_NOEXCEPT {
    return commtask_omp_bind_requests(1, request);
}

/** Whether tasks of this process can be held.
 *  @return COMMTASK_OK; ERR_RUNTIME: commtask_omp_last_error() says why not, and what to do.
 *  @threads Any, at any time, also before commtask_init. */
COMMTASK_API int commtask_omp_bind_check(void) COMMTASK_NOEXCEPT;

/** What libcommtask-omp-bind calls when it is loaded. Not for programs.
 *  @param runtime  the functions behind it.
 *  @param inside   an address in that library.
 *  @return what it hands calls on to. */
COMMTASK_API const struct commtask_omp_entries* commtask_omp_bind_(const struct commtask_omp_entries* runtime,
                                                                   const void* inside) COMMTASK_NOEXCEPT;

/** Lets a thread that waits in a task start any other from now on, also unrelated ones of tied tasks; what libcommtask-tampi
 *  needs for tasks that block. Not for programs. */
COMMTASK_API void commtask_omp_untie_(void) COMMTASK_NOEXCEPT;

/** Whether the calling thread is in a critical section or has a lock of OpenMP's, since commtask_omp_untie_. Not for programs.
 *  @return 1 or 0. */
COMMTASK_API int commtask_omp_binds_mutex_(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
