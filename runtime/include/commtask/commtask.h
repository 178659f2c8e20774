/* SPDX-License-Identifier: Apache-2.0
 *
 * commtask: MPI operations as tasks that a communication worker runs. This is the C interface,
 * the only interface that the library exports. Every contract is written in these headers.
 *
 * Errors, for every function: a negative commtask_code means that the call changed nothing and
 * printed nothing. One exception: commtask_init prints on stderr why it was refused, unless
 * COMMTASK_VERBOSE=0. commtask_last_error() on the same thread gives a sentence that names the
 * argument. If a task fails and the program gave it no status, callback or handle, the error
 * handler of its communicator decides whether the job ends (docs/errors.md).
 *
 * Threads, for every function: any thread may call it at any time between commtask_init and
 * commtask_finalize, unless the function says otherwise. One thread at a time calls MPI for a
 * lane: the lane's worker, or a thread inside this library that makes progress in place of the
 * worker. There is one lane unless the program or the user asks for more (lanes.h). */
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

/** Starts the worker. Call it after MPI_Init_thread and before the first OpenMP or TBB parallel
 *  region, so that compute threads stay off the worker's core. MPI must give at least
 *  MPI_THREAD_SERIALIZED, and MPI_THREAD_MULTIPLE for several lanes.
 *  @param config  null: defaults and environment.
 *  @return COMMTASK_OK; ERR_MPI_LIBRARY, ERR_MPI_STATE, ERR_THREAD_LEVEL, ERR_CONFIG,
 *          ERR_ALREADY_INITIALIZED, ERR_NO_MEMORY. All ranks succeed, or all are refused: a rank
 *          without a reason of its own returns the code of another rank.
 *  @blocking It is collective over the ranks of MPI_COMM_WORLD (they agree on cores).
 *  @threads One thread, once; after commtask_finalize it may be called again. */
COMMTASK_API int commtask_init(const commtask_config* config) COMMTASK_NOEXCEPT;

/** Waits for all tasks and stops the worker. Call it before MPI_Finalize. It is not collective:
 *  each rank may call it at a time of its own.
 *  Some tasks can never complete: no thread can signal their event any more, or no task has ended
 *  for COMMTASK_FINALIZE_TIMEOUT_S. The library lists these tasks on stderr and gives them up:
 *  their state is CANCELED and their callbacks are called. These callbacks cannot post or wait
 *  (docs/promises/6-end.md).
 *  @return COMMTASK_OK; FAILED: tasks failed or were refused, and the program gave them no status,
 *          callback or handle; stderr says which. ERR_UNFINISHED: tasks were given up. In both
 *          cases the library is finalised. ERR_UNFINISHED also if a function of the program that
 *          the worker runs does not return: then unfinished tasks are left as they are.
 *          ERR_NOT_INITIALIZED; ERR_WORKER_THREAD.
 *  @blocking Until all tasks have ended or were given up. With COMMTASK_STATS=1 rank 0 waits for
 *            the numbers of the other ranks, at most 10 seconds.
 *  @threads One thread; no other thread may be in the library or call it later. All handles are
 *           invalid afterwards. */
COMMTASK_API int commtask_finalize(void) COMMTASK_NOEXCEPT;

/** Tells whether commtask_init has succeeded and commtask_finalize was not called since.
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

/** Submits an operation to the worker.
 *  @param operation  from a commtask_op_ function; copied before the call returns.
 *  @param options  predecessors, order, callback; null: none.
 *  @param task  receives a handle that the program must give back with commtask_wait, commtask_test
 *               or commtask_release; null: no handle.
 *  @return COMMTASK_OK; AGAIN with COMMTASK_TRY; the ERR_ code of a wrong argument;
 *          ERR_NOT_INITIALIZED.
 *  @buffers They belong to the task until it has ended, as in MPI's nonblocking calls. So do lists
 *           of counts, displacements and datatypes of collectives with more than 16 entries. Other
 *           lists, and arrays in `options`, may be reused when the call has returned. Then datatypes
 *           and the communicator may be freed. A user-defined MPI_Op may be freed then, too, if the
 *           post starts the reduction; otherwise it must live until the task has ended
 *           (docs/promises/5-memory.md).
 *  @blocking While the queue is full. The first task of a communicator waits until the worker has
 *            registered it (commtask_comm_register). A reduction by a user-defined MPI_Op waits
 *            until MPI has it, at most one second. With COMMTASK_TRY the call returns AGAIN instead
 *            of waiting. No system call unless the worker sleeps. If the worker shares its core and
 *            no other thread makes progress, the caller makes MPI's nonblocking call itself, and up
 *            to some tens of calls for earlier posts. It runs no callback and no user-defined
 *            operation.
 *  @failures An error that MPI reports later ends the task: state FAILED, its successors
 *            CANCELED. Without status, callback and `task`, the communicator's error handler
 *            decides whether the job ends. */
COMMTASK_API int commtask_post(const commtask_op* operation, const commtask_options* options,
                               commtask_t* task) COMMTASK_NOEXCEPT;

/** Calls commtask_post for an operation given by value, so that it can be made in the same line.
 *  @param operation  the operation.
 *  @param options  as for commtask_post.
 *  @param task  as for commtask_post.
 *  @return as commtask_post. */
static inline int commtask_submit(commtask_op operation, const commtask_options* options,
                                  commtask_t* task) COMMTASK_NOEXCEPT {
    return commtask_post(&operation, options, task);
}

/** Registers a communicator before its first task: the library learns its size and lets its errors
 *  be returned as codes.
 *  @param comm  the communicator.
 *  @return COMMTASK_OK or ERR_COMM, ERR_NOT_INITIALIZED.
 *  @blocking Until the worker has registered it; later calls return at once. */
COMMTASK_API int commtask_comm_register(MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Closes an MPI file as MPI_File_close does, unless tasks still need it. All ranks that have
 *  opened the file call this function. The library does not notice if the program calls
 *  MPI_File_close itself.
 *  @param file  open; set to MPI_FILE_NULL on success. After FAILED it is as MPI has left it, else
 *               unchanged. Posted tasks of the file on all communicators count, and members of
 *               plans, running or not. OpenMP tasks whose dependences are not met yet do not count.
 *  @param comm  the communicator of MPI_File_open, or one of the same ranks. The ranks first meet
 *               on it by a collective operation.
 *  @return COMMTASK_OK; ERR_RUNNING: tasks of the file have not ended on this rank, or a plan has
 *          members on it. Wait for the tasks or release the plan and call again, since the other
 *          ranks wait. ERR_FILE: it is MPI_FILE_NULL; ERR_COMM: `comm` is no communicator, or has
 *          other ranks; ERR_ARGUMENT: `file` is null; FAILED: MPI could not close it, as the
 *          sentence says; ERR_WORKER_THREAD: called in a callback; ERR_NOT_INITIALIZED,
 *          ERR_NO_MEMORY.
 *  @threads Any. Close one file at a time, in the same order on all ranks, since MPI may wait for
 *           them. No thread may post tasks of the file meanwhile.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_file_close(MPI_File* file, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Reserves the place of an operation in program order; the operation is posted later. Front ends
 *  call it when a task is created. Then messages that match the same partner start in the order in
 *  which their tasks were created, whichever task becomes ready first.
 *  @param operation  the operation, as it will be posted.
 *  @param options  of the later post; null: defaults. Only `flags`, `file` and `line` count. With
 *                  COMMTASK_ORDERED the ticket is also a place among all ordered messages of the
 *                  communicator.
 *  @param ticket  written on success; give it to commtask_post in its options, or to
 *                 commtask_ticket_drop. Its number is 0 if the operation needs no place: it is
 *                 COMMTASK_UNORDERED, goes to MPI_PROC_NULL, or is neither message nor collective.
 *                 A ticket with number 0 may be given to commtask_post, and need not be dropped.
 *  @return COMMTASK_OK, or an ERR_ code: the operation would be refused when posted.
 *  @failures Later operations that conflict wait for a ticket that is never used; the list of
 *            incomplete tasks names the ticket. A ticket is good for one task on the same
 *            communicator: used twice, or on another communicator, it is refused with
 *            ERR_ARGUMENT. */
COMMTASK_API int commtask_ticket_take_with(const commtask_op* operation, const commtask_options* options,
                                           commtask_ticket* ticket) COMMTASK_NOEXCEPT;

/** Calls commtask_ticket_take_with COMMTASK_ORDERED: reserves a place among all ordered messages of
 *  the communicator, or among its collectives.
 *  @param operation  as for commtask_ticket_take_with; commtask_op_noop for a message that is not
 *                    known yet.
 *  @param ticket  as for commtask_ticket_take_with.
 *  @return as commtask_ticket_take_with. */
COMMTASK_API int commtask_ticket_take(const commtask_op* operation, commtask_ticket* ticket) COMMTASK_NOEXCEPT;

/** Gives up a reserved place whose task will not be posted.
 *  @param comm  the communicator of the ticket's operation; MPI_COMM_NULL: it was an operation on a
 *               window.
 *  @param ticket  the ticket.
 *  @return COMMTASK_OK, or an ERR_ code. */
COMMTASK_API int commtask_ticket_drop(MPI_Comm comm, commtask_ticket ticket) COMMTASK_NOEXCEPT;

/** Tests whether a task has ended; if so, gives its handle back.
 *  @param task  the handle; set to COMMTASK_NULL if ended. COMMTASK_NULL counts as ended.
 *  @param ended  1 or 0.
 *  @param status  written if ended; may be null.
 *  @return COMMTASK_OK (completed, or not ended yet), FAILED, CANCELED, ERR_ARGUMENT. */
COMMTASK_API int commtask_test(commtask_t* task, int* ended, commtask_status* status) COMMTASK_NOEXCEPT;

/** Makes progress if the worker has no core of its own and no other thread makes progress; else it
 *  returns at once. Call it in a wait loop of the program, such as the loop of a task scheduler.
 *  Without the call, the task would make progress only when the operating system gives the worker
 *  the core. Callbacks run on the calling thread.
 *  @param moved  1 if an operation was started or has ended, else 0.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking No: it polls the operations in flight some times, or until `moved` is 1.
 *  @threads Any. */
COMMTASK_API int commtask_progress(int* moved) COMMTASK_NOEXCEPT;

/** Tells whether the worker has no core of its own, or is paused, so that commtask_progress does
 *  something. It is cheaper than commtask_get_info.
 *  @return 1 or 0; 0 if there is no worker.
 *  @threads Any, at any time. */
COMMTASK_API int commtask_is_worker_shared(void) COMMTASK_NOEXCEPT;

/** Tells whether the calling thread is inside a callback of a task, a user-defined operation or,
 *  under commtask-run, a callback of MPI. The thread must not leave its stack then. So a scheduler
 *  that suspends waiting tasks, as oneTBB and fibers do, must wait in place, where the library
 *  refuses the wait or makes progress.
 *  @return 1 or 0.
 *  @threads Any, at any time. */
COMMTASK_API int commtask_in_progress_call(void) COMMTASK_NOEXCEPT;

/** Waits for a task and gives its handle back.
 *  @param task  the handle; set to COMMTASK_NULL. COMMTASK_NULL returns at once.
 *  @param status  may be null.
 *  @return COMMTASK_OK, FAILED, CANCELED; ERR_WORKER_THREAD, ERR_ARGUMENT.
 *  @blocking Until the task has ended. If the worker has no core of its own, the waiting thread
 *            makes progress itself. */
COMMTASK_API int commtask_wait(commtask_t* task, commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for a task, up to a timeout.
 *  @param task  the handle; set to COMMTASK_NULL unless TIMEOUT.
 *  @param timeout_ns  in nanoseconds; negative: no limit; 0: polls once.
 *  @param status  may be null.
 *  @return as commtask_wait, or TIMEOUT: the task goes on and the handle stays valid.
 *  @blocking At most about timeout_ns. */
COMMTASK_API int commtask_wait_for(commtask_t* task, int64_t timeout_ns, commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for one of several tasks.
 *  @param n_tasks  length of `tasks`.
 *  @param tasks  handles; the handle of the ended task becomes COMMTASK_NULL. COMMTASK_NULL entries
 *                are skipped.
 *  @param timeout_ns  as for commtask_wait_for.
 *  @param index  index of the ended task; n_tasks if all entries are COMMTASK_NULL.
 *  @param status  may be null.
 *  @return the code of the ended task, or TIMEOUT, ERR_WORKER_THREAD, ERR_ARGUMENT.
 *  @blocking Until one task has ended. */
COMMTASK_API int commtask_wait_any(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns, size_t* index,
                                   commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for all of several tasks.
 *  @param n_tasks  length of `tasks`.
 *  @param tasks  handles; handles of ended tasks become COMMTASK_NULL.
 *  @param timeout_ns  as for commtask_wait_for, for all tasks together.
 *  @param statuses  n_tasks statuses, each with its struct_size set; may be null.
 *  @return COMMTASK_OK; FAILED if at least one task failed, else CANCELED if at least one was
 *          canceled; TIMEOUT: tasks that have not ended keep their handles.
 *  @blocking Until all tasks have ended. */
COMMTASK_API int commtask_wait_all(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns,
                                   commtask_status* statuses) COMMTASK_NOEXCEPT;

/** Gives a handle back without waiting; the task goes on.
 *  @param task  set to COMMTASK_NULL.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_release(commtask_t* task) COMMTASK_NOEXCEPT;

/** Requests that a task be canceled. A task that has not started never starts. A receive that has
 *  started is withdrawn if no message has matched it; so is a send of this rank to itself if MPI
 *  can withdraw it. Any other task completes as without the call.
 *  @param task  the handle, which stays valid.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_cancel(commtask_t task) COMMTASK_NOEXCEPT;

/** Cancels tasks whose buffers are about to go out of scope, waits until all have ended, and gives
 *  their handles back. Tasks that wait for nothing are started first: a message already on its way
 *  is not withdrawn, and a collective that other ranks have started is not missing on this rank. A
 *  member of a plan whose run was not started has no buffer in use; only its handle is given back.
 *  @param n_tasks  length of `tasks`.
 *  @param tasks  handles; set to COMMTASK_NULL, whatever the result. COMMTASK_NULL entries are
 *                skipped.
 *  @return COMMTASK_OK: the buffers belong to the caller; CANCELED: the same, and at least one task
 *          was canceled; ERR_WORKER_THREAD: called where waiting is refused. Then cancellation is
 *          requested, the handles are given back, and the tasks go on. ERR_ARGUMENT.
 *  @blocking Until all tasks have ended. A send that has started ends when its receiver takes
 *            it. */
COMMTASK_API int commtask_join(size_t n_tasks, commtask_t* tasks) COMMTASK_NOEXCEPT;

/** Creates an event that is complete after `n_signals` signals.
 *  @param n_signals  at least 1.
 *  @param event  written on success; give it back with commtask_event_release.
 *  @return COMMTASK_OK, ERR_ARGUMENT, ERR_NOT_INITIALIZED, ERR_NO_MEMORY. */
COMMTASK_API int commtask_event_create(unsigned n_signals, commtask_event_t* event) COMMTASK_NOEXCEPT;

/** Signals an event once. The last signal lets its successors start.
 *  @param event  the event.
 *  @return COMMTASK_OK; ERR_ARGUMENT: null, or signalled more than n_signals times;
 *          ERR_NOT_INITIALIZED: called after commtask_finalize, when no task waits for the event
 *          any more. */
COMMTASK_API int commtask_event_signal(commtask_event_t event) COMMTASK_NOEXCEPT;

/** Gives an event back. Tasks that wait for the event keep waiting. Other threads must not signal
 *  it afterwards.
 *  @param event  set to COMMTASK_EVENT_NULL.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_event_release(commtask_event_t* event) COMMTASK_NOEXCEPT;

/** Returns the text of a commtask_code.
 *  @param code  a commtask_code.
 *  @return a sentence that is valid until the process ends. */
COMMTASK_API const char* commtask_error_string(int code) COMMTASK_NOEXCEPT;

/** Returns the sentence of the last negative code that a function returned on this thread.
 *  @return valid until the next call on this thread; "" if there was none. */
COMMTASK_API const char* commtask_last_error(void) COMMTASK_NOEXCEPT;

/** Facts about the runtime. */
typedef struct commtask_info {
    size_t struct_size;     /**< sizeof(commtask_info). */
    unsigned lanes;         /**< Number of lanes; each has a worker. */
    int worker_cpu;         /**< The CPU of the first worker; -1 if it has none of its own. */
    int worker_is_reserved; /**< 1 if that CPU is kept free of compute threads. */
    int thread_level;       /**< The thread level that MPI gave. */
    int has_large_counts;   /**< 1 if MPI takes counts above INT_MAX. */
    int tag_upper_bound;    /**< MPI_TAG_UB. */
    uint64_t n_tasks_ended; /**< Tasks that ended since commtask_init, approximately. */
    uint64_t task_bytes;    /**< Memory of task slots, used or free, in bytes; never shrinks. */
    int rank;               /**< Rank in MPI_COMM_WORLD. */
} commtask_info;

/** Fills in facts about the runtime.
 *  @param info  with struct_size set.
 *  @return COMMTASK_OK, ERR_NOT_INITIALIZED, ERR_ARGUMENT. */
COMMTASK_API int commtask_get_info(commtask_info* info) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
