/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libcommtask for the OpenMP front end; not installed. A front end may have created
 * tasks whose operations it has not posted yet, since their dependences are not met. The functions
 * below put such operations into the list of incomplete tasks, keep their arguments, and report
 * their errors as commtask_post does. */
#ifndef COMMTASK_FRONTEND_H
#define COMMTASK_FRONTEND_H

#include <commtask/listen.h>
#include <commtask/operation.h>
#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the MPI error class that corresponds to a code of this library.
 *  @param code  a commtask_code.
 *  @return an MPI error class. */
static inline int commtask_frontend_mpi_class(int code) COMMTASK_NOEXCEPT {
    switch (code) {
    case COMMTASK_ERR_COMM: return MPI_ERR_COMM;
    case COMMTASK_ERR_RANK: return MPI_ERR_RANK;
    case COMMTASK_ERR_TAG: return MPI_ERR_TAG;
    case COMMTASK_ERR_COUNT: return MPI_ERR_COUNT;
    case COMMTASK_ERR_BUFFER: return MPI_ERR_BUFFER;
    case COMMTASK_ERR_TYPE: return MPI_ERR_TYPE;
    case COMMTASK_ERR_OP: return MPI_ERR_OP;
    case COMMTASK_ERR_ARGUMENT: return MPI_ERR_ARG;
    default: return MPI_ERR_OTHER;
    }
}

/** Adds one operation to a list of incomplete tasks. `since_ns` is the time of its creation
 *  (CLOCK_MONOTONIC), `file` and `line` the place of its creation (`file` null: not known), and
 *  `where` a text that says why the operation waits. */
typedef void (*commtask_frontend_add)(void* list, const commtask_op* operation, uint64_t since_ns, const char* file,
                                      int line, const char* where);

/** Calls `add` for each operation that the front end has not posted yet; with `add` null it only
 *  counts the operations. Any thread may call the function; the function must not block or call
 *  this library.
 *  @return the number of operations. */
typedef size_t (*commtask_frontend_list)(commtask_frontend_add add, void* list);

/** Sets the function that lists operations that are not posted yet.
 *  @param list  the only list of the process; must stay loaded. */
COMMTASK_API void commtask_frontend_set_list(commtask_frontend_list list) COMMTASK_NOEXCEPT;

/** Copies and handles that the library retains for an operation that is posted later. */
typedef struct commtask_task* commtask_retained_t;

/** Retains the arguments of an operation until the operation is posted: datatypes and the
 *  communicator, which the program may free meanwhile, and short lists, which it may reuse.
 *  @param operation  its lists are replaced by copies, which live as long as the result.
 *  @return for commtask_frontend_release, after the post; null: there is nothing to retain.
 *  @threads Any. With less than MPI_THREAD_MULTIPLE, handles are retained only if the calling
 *           thread may call MPI. */
COMMTASK_API commtask_retained_t commtask_frontend_retain(commtask_op* operation) COMMTASK_NOEXCEPT;

/** Frees the result of commtask_frontend_retain.
 *  @param retained  may be null. */
COMMTASK_API void commtask_frontend_release(commtask_retained_t retained) COMMTASK_NOEXCEPT;

/** Sets commtask_last_error() for an operation that a front end rejects; the message names the
 *  operation, as after commtask_post.
 *  @param code  the code of the error.
 *  @param operation  null: there was none.
 *  @param reason  the rest of the message.
 *  @return the code. */
COMMTASK_API int commtask_frontend_set_error(int code, const commtask_op* operation,
                                             const char* reason) COMMTASK_NOEXCEPT;

/** Writes a description of an operation, such as "send of 3 elements to rank 5, tag 7, created at
 *  halo.c:50". The function does not call MPI.
 *  @param operation  its communicator and datatypes may have been freed.
 *  @param file  source file that created the operation; null: not known.
 *  @param line  line in `file`.
 *  @param text  the result, truncated if it is too long.
 *  @param size_bytes  size of `text`, at least 1. */
COMMTASK_API void commtask_frontend_describe(const commtask_op* operation, const char* file, int line, char* text,
                                             size_t size_bytes) COMMTASK_NOEXCEPT;

/** Reports an operation that a front end has rejected. If the program does not check the operation,
 *  the error handler of its communicator, window or file decides whether the job ends; if the job
 *  goes on, commtask_finalize returns COMMTASK_FAILED. The caller must not hold a lock.
 *  @param code  the code of the error.
 *  @param operation  null: there was none, and the error handler of MPI_COMM_WORLD decides.
 *  @param is_checked  not 0: the program gave a status, which has the code. Then the message is
 *                     only printed.
 *  @param message  as for commtask_print.
 *  @threads Any, also before commtask_init. */
COMMTASK_API void commtask_frontend_report_refusal(int code, const commtask_op* operation, int is_checked,
                                                   const char* message) COMMTASK_NOEXCEPT;

/** Tells the library whether the front end has reported a failed or canceled task to the program.
 *  Only a callback with COMMTASK_CALLBACK_RELAYS calls the function, before the program goes on.
 *  Without the call, the library calls the error handler after the callback.
 *  @param is_reported  not 0: no error handler is called. 0: the error handler is called now, and
 *                      may end the job. */
COMMTASK_API void commtask_frontend_failure_reported(int is_reported) COMMTASK_NOEXCEPT;

/** Sets a function that is called when a listener ends, by commtask_unlisten or commtask_finalize.
 *  The function is not called if commtask_finalize abandons a worker that does not return.
 *  @param listener  a listener that was just started and that no thread ends yet.
 *  @param end  called once, after the last call of the handler and before the ending call returns:
 *              on the worker, on a thread that makes progress, or in commtask_finalize. The
 *              function may fulfill events; it must not block.
 *  @param argument  argument of `end`. */
COMMTASK_API void commtask_frontend_on_listener_end(commtask_listener_t listener, void (*end)(void*),
                                                    void* argument) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
