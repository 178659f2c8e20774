/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface of commtask: MPI operations become tasks, and a communication worker, a thread of
 * the library, calls MPI for them. The library exports no other interface.
 *
 * Terms: a worker is *reserved* if compute threads are kept off its core, otherwise *shared*. To
 * *make progress* is to start ready tasks and to poll MPI. A *callback* is a function of the
 * program that the library calls, on the worker or on a thread that makes progress.
 *
 * Errors, for every function: a negative commtask_code means that the call changed nothing, and
 * commtask_last_error() on the same thread returns a message that names the argument. Only
 * commtask_init prints this message itself, unless COMMTASK_VERBOSE=0. If a task fails and has no
 * status, callback or handle, the error handler of its communicator decides whether the job ends
 * (docs/errors.md).
 *
 * Threads, for every function: any thread may call the function at any time between commtask_init
 * and commtask_finalize, unless the function says otherwise.
 *
 * Waiting, for every function: a function named `wait` waits without limit; with the suffix `_for`
 * it takes `timeout_ns`. In a callback, functions that wait return ERR_WORKER_THREAD. */
#ifndef COMMTASK_COMMTASK_H
#define COMMTASK_COMMTASK_H

#include <commtask/lanes.h>
#include <commtask/listen.h>
#include <commtask/operations.h>
#include <commtask/pause.h>
#include <commtask/plan.h>
#include <commtask/types.h>
#include <commtask/window.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts the library and its workers. Call it after MPI_Init_thread and before the first OpenMP or
 *  TBB parallel region, so that compute threads stay off the workers' cores.
 *  @param config  null: defaults and environment.
 *  @return COMMTASK_OK; ERR_THREAD_LEVEL: MPI gave less than MPI_THREAD_SERIALIZED, or, for several
 *          lanes, less than MPI_THREAD_MULTIPLE; ERR_MPI_LIBRARY, ERR_MPI_STATE, ERR_CONFIG,
 *          ERR_ALREADY_INITIALIZED, ERR_NO_MEMORY. All ranks succeed, or all return an error; a
 *          rank without an error of its own returns the code of another rank.
 *  @blocking Collective over MPI_COMM_WORLD.
 *  @threads One thread, once; after commtask_finalize it may be called again. */
COMMTASK_API int commtask_init(const commtask_config* config) COMMTASK_NOEXCEPT;

/** Waits for all tasks and stops the library. Call it before MPI_Finalize. It is not collective.
 *  Some tasks can never complete: no thread can signal their event any more, or no task has ended
 *  for COMMTASK_FINALIZE_TIMEOUT_S. The library lists these tasks on stderr, sets their state to
 *  CANCELED and calls their callbacks, which cannot post or wait (docs/promises/6-end.md).
 *  @return COMMTASK_OK; FAILED: a task without status, callback or handle failed or could not be
 *          posted; stderr names it. ERR_UNFINISHED: tasks were canceled as described above, or a
 *          function of the program that the worker runs does not return; the tasks are then left as
 *          they are. In all these cases the library is stopped. ERR_NOT_INITIALIZED,
 *          ERR_WORKER_THREAD.
 *  @blocking Until all tasks have ended or were canceled. With COMMTASK_STATS=1, rank 0 waits at
 *            most 10 seconds for the statistics of the other ranks.
 *  @threads One thread; no other thread may be in the library or call it later. All handles are
 *           invalid afterwards. */
COMMTASK_API int commtask_finalize(void) COMMTASK_NOEXCEPT;

/** Tells whether the library is running: commtask_init has succeeded, and commtask_finalize was not
 *  called since.
 *  @return 1 or 0. */
COMMTASK_API int commtask_is_initialized(void) COMMTASK_NOEXCEPT;

/** Description of a kind of operation. The library owns the table; later versions may add fields
 *  at the end. */
typedef struct commtask_kind_info {
    const char* name;  /**< "send" for commtask_op_send. */
    int is_collective; /**< 1: its tasks are ordered, unless COMMTASK_UNORDERED is set. */
    int sends;         /**< 1: it sends a message. */
    int receives;      /**< 1: it receives or matches a message; its status has source and tag. */
} commtask_kind_info;

/** Describes a kind of operation, as named by the field `kind` of a commtask_op or by an error
 *  report.
 *  @param kind  a commtask_kind.
 *  @return a description that is valid until the process ends; null if the library has no such
 *          kind.
 *  @threads Any, at any time. */
COMMTASK_API const commtask_kind_info* commtask_kind_describe(int kind) COMMTASK_NOEXCEPT;

/** Posts an operation as a task: the worker starts the operation when its predecessors have ended.
 *  @param operation  from a commtask_op_ function; copied before the call returns.
 *  @param options  predecessors, order, callback; null: none.
 *  @param task  receives a handle that the program must give back with commtask_wait, commtask_test
 *               or commtask_release; null: no handle.
 *  @return COMMTASK_OK; AGAIN with COMMTASK_TRY; the ERR_ code of a wrong argument;
 *          ERR_NOT_INITIALIZED.
 *  @buffers Buffers belong to the task until it has ended, as in MPI's nonblocking calls; so do
 *           lists of counts, displacements and datatypes of collectives with more than 16
 *           entries. Other lists, and arrays in `options`, may be reused after the call. Datatypes and the communicator may be
 *           freed after the call; docs/promises/5-memory.md has the rule for a user-defined MPI_Op.
 *  @blocking While the queue is full; for the first task of a communicator until the worker has
 *            registered it; for a reduction by a user-defined MPI_Op at most one second. With
 *            COMMTASK_TRY the call returns AGAIN in these cases. If the worker is shared, the
 *            caller starts ready operations itself, this one and earlier ones, but runs no
 *            callback.
 *  @failures An MPI error ends the task with state FAILED and its successors with CANCELED. Without
 *            status, callback and `task`, the communicator's error handler decides whether the job
 *            ends. */
COMMTASK_API int commtask_post_operation(const commtask_op* operation, const commtask_options* options,
                                         commtask_t* task) COMMTASK_NOEXCEPT;

/** Calls commtask_post_operation for an operation by value: commtask_post(commtask_op_send(...),
 *  NULL, NULL).
 *  @param operation  the operation.
 *  @param options  as for commtask_post_operation.
 *  @param task  as for commtask_post_operation.
 *  @return as commtask_post_operation. */
static inline int commtask_post(commtask_op operation, const commtask_options* options,
                                commtask_t* task) COMMTASK_NOEXCEPT {
    return commtask_post_operation(&operation, options, task);
}

/** Registers a communicator before its first task, which then does not wait for the registration.
 *  The library reads the communicator's size and makes MPI return its errors as codes.
 *  @param comm  the communicator.
 *  @return COMMTASK_OK or ERR_COMM, ERR_NOT_INITIALIZED.
 *  @blocking Until the worker has registered it; later calls return at once. */
COMMTASK_API int commtask_comm_register(MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Closes an MPI file as MPI_File_close does, unless tasks still need it. All ranks that have
 *  opened the file call this function.
 *  @param file  open; set to MPI_FILE_NULL on success.
 *  @param comm  the communicator of MPI_File_open, or one of the same ranks, which the call uses
 *               for a collective operation.
 *  @return COMMTASK_OK; ERR_RUNNING: tasks of the file have not ended on this rank, or a plan has
 *          members on it. Wait for the tasks or release the plan and call again, since the other
 *          ranks wait. ERR_FILE: `file` is MPI_FILE_NULL; ERR_COMM: `comm` is no communicator, or
 *          has other ranks; ERR_ARGUMENT: `file` is null; FAILED: MPI could not close the file;
 *          ERR_WORKER_THREAD, ERR_NOT_INITIALIZED, ERR_NO_MEMORY.
 *  @threads Any. Close one file at a time, in the same order on all ranks. No thread may post tasks
 *           of the file meanwhile. OpenMP tasks whose dependences are not met yet are not counted.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_file_close(MPI_File* file, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Takes a ticket: reserves the position of an operation in program order, for a later post. Front
 *  ends take a ticket when a task is created. Messages that match the same partner then start in
 *  the order in which their tasks were created, whichever task becomes ready first.
 *  @param operation  the operation, as it will be posted.
 *  @param options  of the later post; null: defaults. Only `flags`, `file` and `line` are read.
 *                  With COMMTASK_ORDERED the position is among all ordered messages of the
 *                  communicator.
 *  @param ticket  written on success; give it to a post in its options, or to commtask_ticket_drop.
 *                 Its number is 0 if the operation needs no position: it is COMMTASK_UNORDERED,
 *                 goes to MPI_PROC_NULL, or is neither message nor collective. Such a ticket need
 *                 not be used or dropped.
 *  @return COMMTASK_OK, or the ERR_ code that the post would return.
 *  @failures Later conflicting operations wait for the ticket's task; the list of incomplete tasks
 *            names the ticket. A ticket is valid for one task on the same communicator; otherwise
 *            the post returns ERR_ARGUMENT. */
COMMTASK_API int commtask_ticket_take_with(const commtask_op* operation, const commtask_options* options,
                                           commtask_ticket* ticket) COMMTASK_NOEXCEPT;

/** Takes a ticket as commtask_ticket_take_with, with COMMTASK_ORDERED.
 *  @param operation  as for commtask_ticket_take_with; commtask_op_noop for a message that is not
 *                    known yet.
 *  @param ticket  as for commtask_ticket_take_with.
 *  @return as commtask_ticket_take_with. */
COMMTASK_API int commtask_ticket_take(const commtask_op* operation, commtask_ticket* ticket) COMMTASK_NOEXCEPT;

/** Releases a ticket whose task will not be posted.
 *  @param comm  the communicator of the ticket's operation; MPI_COMM_NULL: it was an operation on a
 *               window.
 *  @param ticket  the ticket.
 *  @return COMMTASK_OK, or an ERR_ code. */
COMMTASK_API int commtask_ticket_drop(MPI_Comm comm, commtask_ticket ticket) COMMTASK_NOEXCEPT;

/** Tests whether a task has ended; if so, releases its handle. If the worker is shared, the call
 *  makes progress.
 *  @param task  the handle; set to COMMTASK_NULL if ended. COMMTASK_NULL counts as ended.
 *  @param ended  1 or 0.
 *  @param status  written if ended; may be null.
 *  @return COMMTASK_OK (completed, or not ended yet), FAILED, CANCELED, ERR_ARGUMENT. */
COMMTASK_API int commtask_test(commtask_t* task, int* ended, commtask_status* status) COMMTASK_NOEXCEPT;

/** Makes progress if the worker is shared and no other thread makes progress; otherwise returns at
 *  once. Call it in a wait loop of the program, such as the loop of a task scheduler: without the
 *  call, progress waits until the operating system gives the worker the core.
 *  @param moved  1 if an operation was started or has ended, else 0.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking No: the call polls the operations in flight some times, or until `moved` is 1.
 *            Callbacks run in it. */
COMMTASK_API int commtask_progress(int* moved) COMMTASK_NOEXCEPT;

/** Tells whether the worker is shared or paused, so that commtask_progress has an effect. It is
 *  cheaper than commtask_get_info.
 *  @return 1 or 0; 0 if there is no worker.
 *  @threads Any, at any time. */
COMMTASK_API int commtask_is_worker_shared(void) COMMTASK_NOEXCEPT;

/** Tells whether the calling thread is inside a callback, a user-defined operation or, under
 *  commtask-run, a callback of MPI. The thread must not leave its stack then. So a scheduler that
 *  suspends waiting tasks, as oneTBB and fibers do, must not suspend here.
 *  @return 1 or 0.
 *  @threads Any, at any time. */
COMMTASK_API int commtask_in_progress_call(void) COMMTASK_NOEXCEPT;

/** Waits for a task and releases its handle.
 *  @param task  the handle; set to COMMTASK_NULL. COMMTASK_NULL returns at once.
 *  @param status  written on return; may be null.
 *  @return COMMTASK_OK, FAILED or CANCELED; ERR_WORKER_THREAD: called in a callback; ERR_ARGUMENT.
 *  @blocking Until the task has ended. If the worker is shared, the waiting thread makes
 *            progress. */
COMMTASK_API int commtask_wait(commtask_t* task, commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for a task as commtask_wait, at most for a given time.
 *  @param task  the handle; set to COMMTASK_NULL unless the call returns TIMEOUT.
 *  @param timeout_ns  in nanoseconds; 0 or negative: the call tests the task and does not wait.
 *  @param status  as for commtask_wait.
 *  @return as commtask_wait; TIMEOUT: the task has not ended, and its handle stays valid. */
COMMTASK_API int commtask_wait_for(commtask_t* task, int64_t timeout_ns, commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for one of several tasks and releases its handle.
 *  @param n_tasks  length of `tasks`.
 *  @param tasks  handles; the handle of the ended task becomes COMMTASK_NULL. COMMTASK_NULL entries
 *                are skipped.
 *  @param index  index of the ended task; n_tasks if all entries are COMMTASK_NULL.
 *  @param status  status of the ended task; may be null.
 *  @return COMMTASK_OK, FAILED or CANCELED for the ended task; ERR_WORKER_THREAD, ERR_ARGUMENT.
 *  @blocking Until one task has ended, as commtask_wait. */
COMMTASK_API int commtask_wait_any(size_t n_tasks, commtask_t* tasks, size_t* index,
                                   commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for one of several tasks as commtask_wait_any, at most for a given time.
 *  @param n_tasks  as for commtask_wait_any.
 *  @param tasks  as for commtask_wait_any.
 *  @param timeout_ns  as for commtask_wait_for.
 *  @param index  as for commtask_wait_any.
 *  @param status  as for commtask_wait_any.
 *  @return as commtask_wait_any; TIMEOUT: no task has ended, and all handles stay valid. */
COMMTASK_API int commtask_wait_any_for(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns, size_t* index,
                                       commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for all of several tasks and releases their handles.
 *  @param n_tasks  length of `tasks`.
 *  @param tasks  handles; set to COMMTASK_NULL. COMMTASK_NULL entries are skipped.
 *  @param statuses  n_tasks statuses, each with its struct_size set; may be null.
 *  @return COMMTASK_OK; FAILED: at least one task failed; CANCELED: none failed and at least one
 *          was canceled; ERR_WORKER_THREAD, ERR_ARGUMENT.
 *  @blocking Until all tasks have ended, as commtask_wait. */
COMMTASK_API int commtask_wait_all(size_t n_tasks, commtask_t* tasks, commtask_status* statuses) COMMTASK_NOEXCEPT;

/** Waits for all of several tasks as commtask_wait_all, at most for a given time.
 *  @param n_tasks  as for commtask_wait_all.
 *  @param tasks  as for commtask_wait_all; after TIMEOUT, tasks that have not ended keep their
 *                handles.
 *  @param timeout_ns  as for commtask_wait_for, for all tasks together.
 *  @param statuses  as for commtask_wait_all; the statuses of tasks that have not ended are not
 *                   written.
 *  @return as commtask_wait_all; TIMEOUT: at least one task has not ended. */
COMMTASK_API int commtask_wait_all_for(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns,
                                       commtask_status* statuses) COMMTASK_NOEXCEPT;

/** Releases a handle without waiting; the task continues.
 *  @param task  set to COMMTASK_NULL.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_release(commtask_t* task) COMMTASK_NOEXCEPT;

/** Requests that a task be canceled. A task that has not started never starts. A started receive is
 *  canceled if no message has matched it; so is a send of this rank to itself if MPI can cancel it.
 *  Any other task completes as without the call.
 *  @param task  the handle, which stays valid.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_cancel(commtask_t task) COMMTASK_NOEXCEPT;

/** Cancels tasks whose buffers are about to go out of scope, waits until all have ended, and
 *  releases their handles. Tasks without open predecessors are started first, so that a message on
 *  its way is received and a collective takes place on this rank too. For a member of a plan that
 *  was not started, only the handle is released.
 *  @param n_tasks  length of `tasks`.
 *  @param tasks  handles; set to COMMTASK_NULL, whatever the result. COMMTASK_NULL entries are
 *                skipped.
 *  @return COMMTASK_OK: the buffers belong to the caller; CANCELED: the same, and at least one task
 *          was canceled; ERR_WORKER_THREAD: called in a callback: cancellation is requested, the
 *          handles are released, and the tasks continue. ERR_ARGUMENT.
 *  @blocking Until all tasks have ended. A send that has started ends when it is received. */
COMMTASK_API int commtask_join(size_t n_tasks, commtask_t* tasks) COMMTASK_NOEXCEPT;

/** Creates an event that is complete after `n_signals` signals.
 *  @param n_signals  at least 1.
 *  @param event  written on success; release it with commtask_event_release.
 *  @return COMMTASK_OK, ERR_ARGUMENT, ERR_NOT_INITIALIZED, ERR_NO_MEMORY. */
COMMTASK_API int commtask_event_create(unsigned n_signals, commtask_event_t* event) COMMTASK_NOEXCEPT;

/** Signals an event once. The last signal lets its successors start.
 *  @param event  the event.
 *  @return COMMTASK_OK; ERR_ARGUMENT: null, or signalled more than n_signals times;
 *          ERR_NOT_INITIALIZED: called after commtask_finalize. */
COMMTASK_API int commtask_event_signal(commtask_event_t event) COMMTASK_NOEXCEPT;

/** Releases an event. Tasks that wait for the event keep waiting. No thread may signal the event
 *  afterwards.
 *  @param event  set to COMMTASK_EVENT_NULL.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_event_release(commtask_event_t* event) COMMTASK_NOEXCEPT;

/** Returns the text of a commtask_code.
 *  @param code  a commtask_code.
 *  @return a text that is valid until the process ends. */
COMMTASK_API const char* commtask_error_string(int code) COMMTASK_NOEXCEPT;

/** Returns the message of the last negative code that a function returned on this thread.
 *  @return valid until the next call on this thread; "" if there was none. */
COMMTASK_API const char* commtask_last_error(void) COMMTASK_NOEXCEPT;

/** Prints a line on stderr: "commtask: rank 3: " and a message. Lines of many ranks are mixed on
 *  stderr, so a program can print its own lines with the same prefix.
 *  @param message  without a newline. A prefix "commtask: " or "commtask: rank 3: " at its
 *                  beginning is not printed twice.
 *  @threads Any, at any time; before commtask_init the line has no rank. */
COMMTASK_API void commtask_print(const char* message) COMMTASK_NOEXCEPT;

/** Properties of the running library. */
typedef struct commtask_info {
    size_t struct_size;     /**< sizeof(commtask_info). */
    unsigned lanes;         /**< Number of lanes; each has a worker. */
    int worker_cpu;         /**< The CPU of the first worker; -1 if it has none of its own. */
    int worker_is_reserved; /**< 1 if that CPU is kept free of compute threads. */
    int thread_level;       /**< The thread level that MPI gave. */
    int has_large_counts;   /**< 1 if MPI accepts counts above INT_MAX. */
    int tag_upper_bound;    /**< MPI_TAG_UB. */
    uint64_t n_tasks_ended; /**< Tasks that ended since commtask_init, approximately. */
    uint64_t task_bytes;    /**< Memory of task slots, used or free, in bytes; never shrinks. */
    int rank;               /**< Rank in MPI_COMM_WORLD. */
} commtask_info;

/** Returns properties of the running library.
 *  @param info  with struct_size set.
 *  @return COMMTASK_OK, ERR_NOT_INITIALIZED, ERR_ARGUMENT. */
COMMTASK_API int commtask_get_info(commtask_info* info) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
