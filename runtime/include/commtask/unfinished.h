/* SPDX-License-Identifier: Apache-2.0
 *
 * For faces. They keep operations of their own before they post them, as the OpenMP face does with tasks whose dependences
 * are not met: what they hold appears in the lists of unfinished tasks. And what they print begins as the library's own lines
 * do, since lines of many ranks come mixed. A face whose tasks live on what a standing receive brings is told of its end. Not for
 * callers. */
#ifndef COMMTASK_UNFINISHED_H
#define COMMTASK_UNFINISHED_H

#include <commtask/listen.h>
#include <commtask/operation.h>
#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The class of MPI that says the same as a code of this library.
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

/** Takes one operation into a list: since when it waits, by CLOCK_MONOTONIC, where it was created (`file` null: not known), and
 *  where it waits. */
typedef void (*commtask_unfinished_add)(void* list, const commtask_op* operation, uint64_t since_ns, const char* file,
                                        int line, const char* where);

/** Lists what a face holds: calls `add` for each. With `add` null it only
 *  counts. Runs on any thread; must not block, nor call the library.
 *  Returns how many there are. */
typedef size_t (*commtask_unfinished_source)(commtask_unfinished_add add, void* list);

/** Says who lists what is not posted yet.
 *  @param source  one of the process; it must stay loaded. */
COMMTASK_API void commtask_unfinished_from(commtask_unfinished_source source) COMMTASK_NOEXCEPT;

/** What the library keeps of an operation that is posted later. */
typedef struct commtask_task* commtask_kept_t;

/** Keeps what an operation needs until it is posted, as a post does until its task has ended: datatypes and the communicator, which
 *  the program may free meanwhile, and short lists, which it may use again.
 *  @param operation  its lists become copies, which live as long as what is returned.
 *  @return for commtask_drop, once the operation was posted; null: there is nothing to keep.
 *  @threads Any. With less than MPI_THREAD_MULTIPLE handles are kept only where the calling thread may call MPI. */
COMMTASK_API commtask_kept_t commtask_keep(commtask_op* operation) COMMTASK_NOEXCEPT;

/** Gives back what commtask_keep has kept.
 *  @param kept  may be null. */
COMMTASK_API void commtask_drop(commtask_kept_t kept) COMMTASK_NOEXCEPT;

/** Writes a line to stderr: "commtask: rank 3: ", without the rank before commtask_init, also one that was refused, and a sentence.
 *  @param sentence  may begin with "commtask: ", or with that and the rank, which are written once. */
COMMTASK_API void commtask_say(const char* sentence) COMMTASK_NOEXCEPT;

/** Has commtask_last_error() name the operation that a front end refuses, as commtask_post does by itself.
 *  @param code       why.
 *  @param operation  null: there was none.
 *  @param reason     the rest of the sentence.
 *  @return the code. */
COMMTASK_API int commtask_refuse_operation(int code, const commtask_op* operation,
                                           const char* reason) COMMTASK_NOEXCEPT;

/** Writes "send of 3 elements to rank 5, tag 7, created at halo.c:50", as the library's sentences have it. MPI is not asked.
 *  @param operation   its communicator and datatypes may have been freed.
 *  @param file        of the call that created it; null: not known.
 *  @param line        of the call.
 *  @param text        cut if it is too short.
 *  @param size_bytes  of the text, at least 1. */
COMMTASK_API void commtask_describe_operation(const commtask_op* operation, const char* file, int line, char* text,
                                              size_t size_bytes) COMMTASK_NOEXCEPT;

/** A front end has refused an operation of its program's. Where nobody looks, the error handler of the operation's communicator,
 *  window or file decides: the job ends here, or the sentence is printed, and commtask_finalize returns COMMTASK_FAILED. Also without
 *  commtask_init. No lock may be held.
 *  @param code          why.
 *  @param operation     null: there was none, and MPI_COMM_WORLD's handler decides.
 *  @param is_looked_at  not 0: the program gave a status, which says so. Then the sentence alone is printed.
 *  @param sentence      as for commtask_say. */
COMMTASK_API void commtask_tell_refusal(int code, const commtask_op* operation, int is_looked_at,
                                        const char* sentence) COMMTASK_NOEXCEPT;

/** In a callback with COMMTASK_CALLBACK_RELAYS, of a task that did not complete, before the front end lets the program go on.
 *  Without this call the error handler is asked after the callback.
 *  @param is_told  not 0: the front end has told the program, so that no error handler is asked. 0: it is asked now, and may end
 *                  the job. */
COMMTASK_API void commtask_failure_is_told(int is_told) COMMTASK_NOEXCEPT;

/** Tells of the end of a standing receive, whoever ends it: commtask_unlisten, or commtask_finalize, by force too. Not where
 *  commtask_finalize leaves behind a worker that does not come back.
 *  @param listener  was opened just now, and nobody ends it yet.
 *  @param end       called once, before that call returns, when the handler is not called any more and never will be: on the worker, on
 *                   a thread that drives, or in commtask_finalize. It may fulfil, and must not block.
 *  @param argument  handed to it. */
COMMTASK_API void commtask_listener_on_end(commtask_listener_t listener, void (*end)(void*),
                                           void* argument) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
