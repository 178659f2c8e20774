/* SPDX-License-Identifier: Apache-2.0
 *
 * For front ends, not for programs. A front end may have operations that it has not posted yet,
 * as the OpenMP front end has for tasks whose dependences are not met. These functions put them
 * into the lists of unfinished tasks. Lines of many ranks are mixed on stderr, so a front end
 * prints its lines with the library's prefix. A front end with a listener is told when the
 * listener ends. */
#ifndef COMMTASK_UNFINISHED_H
#define COMMTASK_UNFINISHED_H

#include <commtask/listen.h>
#include <commtask/operation.h>
#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the MPI error class that corresponds to a code of this library.
 *  @param code  a COMMTASK_ code
 *  @return an MPI error class */
static inline int commtask_mpi_class_of(int code) COMMTASK_NOEXCEPT {
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

/** Adds one operation to a list: since when it waits (CLOCK_MONOTONIC, in ns), where it was
 *  created (`file` null: not known), and a text that says where it waits. */
typedef void (*commtask_unfinished_add)(void* list, const commtask_op* operation, uint64_t since_ns, const char* file,
                                        int line, const char* where);

/** Lists the operations that a front end has not posted yet: calls `add` for each. With `add`
 *  null it only counts. It runs on any thread; it must not block or call the library. It returns
 *  their number. */
typedef size_t (*commtask_unfinished_source)(commtask_unfinished_add add, void* list);

/** Sets the function that lists operations that are not posted yet.
 *  @param source  the only one of the process; it must stay loaded. */
COMMTASK_API void commtask_unfinished_from(commtask_unfinished_source source) COMMTASK_NOEXCEPT;

/** Copies and handles that the library keeps for an operation that is posted later. */
typedef struct commtask_task* commtask_kept_t;

/** Keeps the arguments of an operation until it is posted, as a post does until its task has ended:
 *  datatypes and the communicator, which the program may free meanwhile, and short lists, which it
 *  may reuse.
 *  @param operation  its lists are replaced by copies, which live as long as the result.
 *  @return for commtask_drop, when the operation was posted; null: there is nothing to keep.
 *  @threads Any. With less than MPI_THREAD_MULTIPLE, handles are kept only if the calling thread
 *           may call MPI. */
COMMTASK_API commtask_kept_t commtask_keep(commtask_op* operation) COMMTASK_NOEXCEPT;

/** Frees the result of commtask_keep.
 *  @param kept  may be null. */
COMMTASK_API void commtask_drop(commtask_kept_t kept) COMMTASK_NOEXCEPT;

/** Writes a line to stderr: "commtask: rank 3: " and a sentence. Before commtask_init, or if it was
 *  refused, the line has no rank.
 *  @param sentence  may begin with "commtask: ", or with that and the rank, which are written
 *                   once. */
COMMTASK_API void commtask_say(const char* sentence) COMMTASK_NOEXCEPT;

/** Sets commtask_last_error() for an operation that a front end refuses, with the operation in the
 *  sentence, as commtask_post does by itself.
 *  @param code  the code of the refusal.
 *  @param operation  null: there was none.
 *  @param reason  the rest of the sentence.
 *  @return the code. */
COMMTASK_API int commtask_refuse_operation(int code, const commtask_op* operation,
                                           const char* reason) COMMTASK_NOEXCEPT;

/** Writes a description like "send of 3 elements to rank 5, tag 7, created at halo.c:50", as in the
 *  library's sentences. It does not call MPI.
 *  @param operation  its communicator and datatypes may have been freed.
 *  @param file  of the call that created it; null: not known.
 *  @param line  of the call.
 *  @param text  the result, truncated if it is too long.
 *  @param size_bytes  size of `text`, at least 1. */
COMMTASK_API void commtask_describe_operation(const commtask_op* operation, const char* file, int line, char* text,
                                              size_t size_bytes) COMMTASK_NOEXCEPT;

/** Reports that a front end has refused an operation of the program. If the program does not check
 *  the operation, the error handler of the operation's communicator, window or file decides: the
 *  job ends here, or the sentence is printed and commtask_finalize returns COMMTASK_FAILED. It
 *  works without commtask_init. The caller must not hold a lock.
 *  @param code  the code of the refusal.
 *  @param operation  null: there was none, and the error handler of MPI_COMM_WORLD decides.
 *  @param is_looked_at  not 0: the program gave a status, which has the code. Then the sentence is
 *                       only printed.
 *  @param sentence  as for commtask_say. */
COMMTASK_API void commtask_tell_refusal(int code, const commtask_op* operation, int is_looked_at,
                                        const char* sentence) COMMTASK_NOEXCEPT;

/** Tells whether the front end has reported a failure to the program. It is called in a callback
 *  with COMMTASK_CALLBACK_RELAYS, of a task that did not complete, before the front end lets the
 *  program go on. Without this call the error handler is called after the callback.
 *  @param is_told  not 0: the front end has told the program, and no error handler is called. 0:
 *                  the error handler is called now, and may end the job. */
COMMTASK_API void commtask_failure_is_told(int is_told) COMMTASK_NOEXCEPT;

/** Sets a function that is called when a listener ends, by commtask_unlisten or by
 *  commtask_finalize, also if commtask_finalize gives it up. The function is not called if
 *  commtask_finalize abandons a worker that does not return.
 *  @param listener  a listener that was started just now and that no thread ends yet.
 *  @param end  called once, when the handler will not be called any more and before the ending call
 *              returns: on the worker, on a thread that makes progress, or in commtask_finalize. It
 *              may fulfill, and must not block.
 *  @param argument  argument of `end`. */
COMMTASK_API void commtask_listener_on_end(commtask_listener_t listener, void (*end)(void*),
                                           void* argument) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
