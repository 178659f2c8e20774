/* SPDX-License-Identifier: Apache-2.0
 *
 * commtask: MPI operations as tasks that a communication worker runs. This is the C interface; it is the only one
 * that crosses the library's border, and every contract is written here.
 *
 * Errors, for every function: a negative commtask_code means that nothing was changed and nothing printed, but by
 * commtask_init, which says why it was refused on stderr, on the first rank that has a reason (COMMTASK_VERBOSE=0: not).
 * commtask_last_error() on the same thread gives a sentence that names the argument. A task that fails where the program does not look,
 * by a status, a callback or its handle, follows the error handler of its communicator, which may end the job (docs/errors.md).
 * Threads, for every function: any thread may call it at any time between commtask_init and commtask_finalize,
 * unless it says otherwise. One thread at a time calls MPI for a lane: its worker, or a thread inside this library that does
 * the worker's work. There is one lane unless more are asked for (lanes.h). */
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

/** Starts the worker. Call it after MPI_Init_thread with at least MPI_THREAD_SERIALIZED, or with MPI_THREAD_MULTIPLE for
 *  several lanes, and before the first OpenMP or TBB parallel region, so that compute threads stay off the worker's core.
 *  @param config  null: defaults and environment.
 *  @return COMMTASK_OK; ERR_MPI_LIBRARY, ERR_MPI_STATE, ERR_THREAD_LEVEL, ERR_CONFIG, ERR_ALREADY_INITIALIZED, ERR_NO_MEMORY. All ranks
 *          succeed, or all are refused: those without a reason of their own for that of another rank.
 *  @blocking It is collective over the ranks of MPI_COMM_WORLD (they agree on cores); every rank must call it.
 *  @threads One thread, once; after commtask_finalize it may be called again. */
COMMTASK_API int commtask_init(const commtask_config* config) COMMTASK_NOEXCEPT;

/** Waits for all tasks and stops the worker. Call it before MPI_Finalize.
 *  Tasks that can never complete (they wait for an event that nobody can signal any more, or nothing has moved for
 *  COMMTASK_FINALIZE_TIMEOUT_S) are listed on stderr and given up: their state is CANCELED. Their callbacks are called;
 *  these cannot post or wait any more. It is not collective: the ranks may call it where they like.
 *  @return COMMTASK_OK; FAILED: tasks failed or were refused where the program does not look, as stderr says; the library is
 *          finalised all the same. ERR_UNFINISHED after such a list (the library is finalised all the same), or if a function of the
 *          program's that the worker runs does not come back: what is unfinished is left as it is then;
 *          ERR_NOT_INITIALIZED; ERR_WORKER_THREAD.
 *  @blocking Until all tasks ended, or were given up. With COMMTASK_STATS=1 rank 0 waits for the others' numbers, at most
 *            10 seconds.
 *  @threads One thread; no other may be in the library or call it later. Handles are void afterwards. */
COMMTASK_API int commtask_finalize(void) COMMTASK_NOEXCEPT;

/** Whether commtask_init succeeded and commtask_finalize was not called since.
 *  @return 1 or 0. */
COMMTASK_API int commtask_is_initialized(void) COMMTASK_NOEXCEPT;

/** What there is to know about a kind of operation. A table of the library: fields may be added at its end. */
typedef struct commtask_kind_info {
    const char* name;  /**< "send" for commtask_op_send. */
    int is_collective; /**< 1: such tasks are ordered unless COMMTASK_UNORDERED says otherwise. */
    int sends;         /**< 1: it sends a message. */
    int receives;      /**< 1: it receives a message, or takes one, so that its status has a source and a tag. */
} commtask_kind_info;

/** Describes a kind of operation, as the field `kind` of a commtask_op or an error report names it.
 *  @param kind  a commtask_kind.
 *  @return what there is to know, for as long as the program lives; null if it is no kind of this library.
 *  @threads Any, at any time. */
COMMTASK_API const commtask_kind_info* commtask_kind_describe(int kind) COMMTASK_NOEXCEPT;

/** Hands an operation to the worker.
 *  @param operation  what to do, from a commtask_op_ function; copied before the call returns.
 *  @param options    predecessors, order, callback; null: none.
 *  @param task       where to put a handle that commtask_wait, commtask_test or commtask_release must give back;
 *                    null: nobody will ask.
 *  @return COMMTASK_OK; AGAIN with COMMTASK_TRY; the ERR_ code of a wrong argument; ERR_NOT_INITIALIZED.
 *  @buffers Of the operation: as for MPI's nonblocking call, from this call until the task has ended. Its lists of ranks,
 *           counts, displacements and datatypes too, if they have more than 16 entries; shorter ones, and arrays in
 *           options, are free again when the call returns. Then datatypes and the communicator may be freed. A
 *           reduction operation may be freed if the task waits for nothing and was posted without COMMTASK_TRY and outside of
 *           callbacks: the call starts it then. Else it must live until the task has ended (docs/promises/5-memory.md).
 *  @blocking Only while the queue is full; the first task of a communicator waits until the worker has seen it (see
 *            commtask_comm_register); a reduction by an MPI_Op of the program's, at most one second, until MPI has it. Never with
 *            COMMTASK_TRY: then both are answered with AGAIN, and the worker looks at the communicator. No system call unless the worker sleeps. Where the worker has no core of its own
 *            and nobody else drives MPI, the calling thread makes MPI's nonblocking call itself, and those for what others
 *            have posted before, up to some tens: a post costs there what MPI's call costs. It runs no callback and no
 *            function of a door.
 *  @failures What MPI reports later ends the task: state FAILED, its successors CANCELED. With neither status nor callback nor
 *           `task` the communicator's error handler decides whether the job ends. */
COMMTASK_API int commtask_post(const commtask_op* operation, const commtask_options* options,
                               commtask_t* task) COMMTASK_NOEXCEPT;

/** commtask_post for an operation that is made in the same line.
 *  @param operation  what to do.
 *  @param options    as for commtask_post.
 *  @param task       as for commtask_post.
 *  @return as commtask_post. */
static inline int commtask_submit(commtask_op operation, const commtask_options* options,
                                  commtask_t* task) COMMTASK_NOEXCEPT {
    return commtask_post(&operation, options, task);
}

/** Makes a communicator known before its first task: learns its size, and lets errors come back as codes.
 *  @param comm  the communicator.
 *  @return COMMTASK_OK or ERR_COMM, ERR_NOT_INITIALIZED.
 *  @blocking Until the worker has looked at it once; later calls cost nothing. */
COMMTASK_API int commtask_comm_register(MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Closes a file of MPI as MPI_File_close does, unless tasks still need it: nobody tells the library of a file that the program
 *  closes itself. All ranks that have opened it call this.
 *  @param file  open; MPI_FILE_NULL on success, after FAILED as MPI has left it, unchanged otherwise. Its tasks on all communicators
 *               count, once they are posted: OpenMP's that still wait for dependences are not. So do members of plans, running or not.
 *  @param comm  the communicator of MPI_File_open, or one of the same ranks: the ranks meet on it first, by a collective operation.
 *  @return COMMTASK_OK; ERR_RUNNING: tasks of the file have not ended on this rank, or a plan has members on it: wait for them or
 *          release the plan, and call it again, since the other ranks wait; ERR_FILE: it is MPI_FILE_NULL; ERR_COMM: comm is no communicator, or has other ranks; ERR_ARGUMENT:
 *          `file` is null; FAILED: MPI could not close it, as the sentence says; ERR_WORKER_THREAD: called in a callback;
 *          ERR_NOT_INITIALIZED, ERR_NO_MEMORY.
 *  @threads Any, but for one file at a time, in the same order on all ranks: MPI's own closing may wait for them. Nobody posts tasks
 *           of the file meanwhile.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_file_close(MPI_File* file, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Takes the turn of an operation in program order now; the operation is posted later. Front ends call it when a task is
 *  created, so that messages that match the same partner start in the order in which their tasks were created, whatever becomes
 *  ready first.
 *  @param operation  the operation, as it will be posted.
 *  @param options    of the later post; `flags`, `file` and `line` count: COMMTASK_ORDERED takes a turn among all ordered messages
 *                    of the communicator too; null: defaults.
 *  @param ticket     written on success; give it to commtask_post in its options, or to commtask_ticket_drop. Its number is 0
 *                    if the operation needs no turn: it is COMMTASK_UNORDERED, goes to MPI_PROC_NULL, or is neither
 *                    message nor collective. Such a ticket may be given to commtask_post, and need not be dropped.
 *  @return COMMTASK_OK, or an ERR_ code: the operation would be refused when posted.
 *  @failures Later operations that conflict wait for a ticket that is never used; the list of incomplete tasks names it. A
 *            ticket is good for one task on the same communicator: used twice, or elsewhere, it is refused with ERR_ARGUMENT. */
COMMTASK_API int commtask_ticket_take_with(const commtask_op* operation, const commtask_options* options,
                                           commtask_ticket* ticket) COMMTASK_NOEXCEPT;

/** commtask_ticket_take_with COMMTASK_ORDERED: a turn among all ordered messages of the communicator, or among its collectives.
 *  @param operation  as for commtask_ticket_take_with; of a message that is not known yet, commtask_op_noop.
 *  @param ticket     as for commtask_ticket_take_with.
 *  @return as commtask_ticket_take_with. */
COMMTASK_API int commtask_ticket_take(const commtask_op* operation, commtask_ticket* ticket) COMMTASK_NOEXCEPT;

/** Gives a place up, when its task will not be posted after all.
 *  @param comm    the communicator of the operation that it was taken for; MPI_COMM_NULL: it was one of a window.
 *  @param ticket  the ticket.
 *  @return COMMTASK_OK, or an ERR_ code. */
COMMTASK_API int commtask_ticket_drop(MPI_Comm comm, commtask_ticket ticket) COMMTASK_NOEXCEPT;

/** Asks whether a task has ended; if so, gives its handle back.
 *  @param task    the handle; COMMTASK_NULL counts as ended. Set to COMMTASK_NULL if ended.
 *  @param ended   1 or 0.
 *  @param status  written if ended; may be null.
 *  @return COMMTASK_OK (ended well, or not yet), FAILED, CANCELED, ERR_ARGUMENT. */
COMMTASK_API int commtask_test(commtask_t* task, int* ended, commtask_status* status) COMMTASK_NOEXCEPT;

/** Drives MPI for a moment where the worker has no core of its own and no other thread drives; elsewhere it returns at
 *  once. For programs that wait in a loop of their own, such as a task scheduler: their thread does then what the worker
 *  could do only after a turn of the operating system's scheduler. Callbacks run on the calling thread.
 *  @param moved  1 if something was started or has ended, else 0.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking No: some passes over what is in flight, or until something moved.
 *  @threads Any. */
COMMTASK_API int commtask_progress(int* moved) COMMTASK_NOEXCEPT;

/** Whether the worker has no core of its own, or is paused, so that commtask_progress does something. commtask_get_info says it too; this is
 *  for who asks often.
 *  @return 1 or 0; 0 where there is no worker.
 *  @threads Any, at any time. */
COMMTASK_API int commtask_is_worker_shared(void) COMMTASK_NOEXCEPT;

/** Whether the calling thread runs MPI or its callbacks for others: it is in a callback of a task, in the function of a
 *  door, or, under commtask-run, in a callback of MPI's. It must not leave its stack then: a scheduler that suspends what
 *  waits, as oneTBB and fibers do, waits in place instead, where the wait is refused, or drives.
 *  @return 1 or 0.
 *  @threads Any, at any time. */
COMMTASK_API int commtask_in_progress_call(void) COMMTASK_NOEXCEPT;

/** Waits for a task and gives its handle back.
 *  @param task    the handle; set to COMMTASK_NULL. COMMTASK_NULL returns at once.
 *  @param status  may be null.
 *  @return COMMTASK_OK, FAILED, CANCELED; ERR_WORKER_THREAD, ERR_ARGUMENT.
 *  @blocking Until the task has ended. A waiting thread drives MPI itself where the worker has no core of its own. */
COMMTASK_API int commtask_wait(commtask_t* task, commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for a task, but not for ever.
 *  @param task        the handle; set to COMMTASK_NULL unless TIMEOUT.
 *  @param timeout_ns  in nanoseconds; negative: for ever; 0: one look.
 *  @param status      may be null.
 *  @return as commtask_wait, or TIMEOUT: the task goes on and the handle stays valid.
 *  @blocking At most about timeout_ns. */
COMMTASK_API int commtask_wait_for(commtask_t* task, int64_t timeout_ns, commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for one of several tasks.
 *  @param n_tasks  how many.
 *  @param tasks    handles; the one that ended becomes COMMTASK_NULL. COMMTASK_NULL entries are skipped.
 *  @param timeout_ns  as for commtask_wait_for.
 *  @param index    which one ended; n_tasks if all entries are COMMTASK_NULL.
 *  @param status   may be null.
 *  @return of the task that ended, or TIMEOUT, ERR_WORKER_THREAD, ERR_ARGUMENT.
 *  @blocking Until one has ended. */
COMMTASK_API int commtask_wait_any(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns, size_t* index,
                                   commtask_status* status) COMMTASK_NOEXCEPT;

/** Waits for all of several tasks.
 *  @param n_tasks   how many.
 *  @param tasks     handles; those that ended become COMMTASK_NULL.
 *  @param timeout_ns  as for commtask_wait_for, for all together.
 *  @param statuses  n_tasks of them, each with its struct_size set; may be null.
 *  @return COMMTASK_OK; FAILED if at least one failed, else CANCELED if at least one was; TIMEOUT: those that have
 *          not ended keep their handles.
 *  @blocking Until all have ended. */
COMMTASK_API int commtask_wait_all(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns,
                                   commtask_status* statuses) COMMTASK_NOEXCEPT;

/** Gives a handle back without waiting; the task goes on.
 *  @param task  set to COMMTASK_NULL.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_release(commtask_t* task) COMMTASK_NOEXCEPT;

/** Asks for a task to be canceled. One that has not started never will; a receive that has started is withdrawn if
 *  no message has matched it, and so is a send of this rank to itself where MPI can; anything else completes as if this
 *  had not been called.
 *  @param task  the handle, which stays valid.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_cancel(commtask_t task) COMMTASK_NOEXCEPT;

/** Ends what a part of the program leaves behind whose buffers are about to go: asks for the tasks to be canceled, waits until all have
 *  ended, and gives their handles back. Tasks that wait for nothing are started first, so that a message that was sent on its way is
 *  not taken back, and a collective that other ranks have started is not missing here. A member of a plan whose run was not
 *  started is only given back: it has no buffer in use.
 *  @param n_tasks  how many.
 *  @param tasks    handles; set to COMMTASK_NULL, whatever the result. COMMTASK_NULL entries are skipped.
 *  @return COMMTASK_OK: their buffers are the caller's; CANCELED: so they are, and at least one task was canceled; ERR_WORKER_THREAD:
 *          where nobody may wait they are asked for and given back, and go on; ERR_ARGUMENT.
 *  @blocking Until all have ended. A send that has started ends when its receiver takes it. */
COMMTASK_API int commtask_join(size_t n_tasks, commtask_t* tasks) COMMTASK_NOEXCEPT;

/** Makes an event that is complete after `n_signals` signals.
 *  @param n_signals  at least 1.
 *  @param event      written on success; give it back with commtask_event_release.
 *  @return COMMTASK_OK, ERR_ARGUMENT, ERR_NOT_INITIALIZED, ERR_NO_MEMORY. */
COMMTASK_API int commtask_event_create(unsigned n_signals, commtask_event_t* event) COMMTASK_NOEXCEPT;

/** Signals an event once. The last signal lets its successors start.
 *  @param event  the event.
 *  @return COMMTASK_OK; ERR_ARGUMENT: null, or signalled more often than it was made for; ERR_NOT_INITIALIZED: after
 *          commtask_finalize nothing waits for it any more. */
COMMTASK_API int commtask_event_signal(commtask_event_t event) COMMTASK_NOEXCEPT;

/** Gives an event back. Tasks that wait for it keep waiting, and another holder may still signal it before this.
 *  @param event  set to COMMTASK_EVENT_NULL.
 *  @return COMMTASK_OK or ERR_ARGUMENT. */
COMMTASK_API int commtask_event_release(commtask_event_t* event) COMMTASK_NOEXCEPT;

/** Copies the text of an MPI error, or of a commtask_code.
 *  @param code  a commtask_code.
 *  @return a sentence that lives as long as the program. */
COMMTASK_API const char* commtask_error_string(int code) COMMTASK_NOEXCEPT;

/** The sentence of the last negative code that a function returned on this thread.
 *  @return valid until the next call on this thread; "" if there was none. */
COMMTASK_API const char* commtask_last_error(void) COMMTASK_NOEXCEPT;

/** What the runtime runs on. */
typedef struct commtask_info {
    size_t struct_size;     /**< sizeof(commtask_info). */
    unsigned lanes;         /**< How many workers. */
    int worker_cpu;         /**< The CPU of the first worker; -1 if it has none of its own. */
    int worker_is_reserved; /**< 1 if that CPU is kept free of compute threads. */
    int thread_level;       /**< What MPI gave. */
    int has_large_counts;   /**< 1 if counts above INT_MAX can be carried. */
    int tag_upper_bound;    /**< MPI_TAG_UB. */
    uint64_t n_tasks_ended; /**< Tasks that ended since commtask_init, approximately. */
    uint64_t task_bytes;    /**< Memory of the slots of tasks, used or free; it never shrinks (docs/promises/5). */
    int rank;               /**< This process in MPI_COMM_WORLD. */
} commtask_info;

/** Fills in what the runtime runs on.
 *  @param info  with struct_size set.
 *  @return COMMTASK_OK, ERR_NOT_INITIALIZED, ERR_ARGUMENT. */
COMMTASK_API int commtask_get_info(commtask_info* info) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
