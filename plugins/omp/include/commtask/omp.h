/* SPDX-License-Identifier: Apache-2.0
 *
 * Communication tasks for OpenMP: an MPI operation becomes an OpenMP task with dependences, and the
 * tasks that depend on it run as soon as the operation has completed.
 * C and C++ programs can use the macro COMM_TASK, commtask_omp_spawn (which COMM_TASK calls), or
 * commtask_omp_start in the body of a task with a detach clause. All three need LLVM's OpenMP
 * runtime, also under gcc: a process with libgomp is refused (see commtask_omp_check). */
#ifndef COMMTASK_OMP_H
#define COMMTASK_OMP_H

#include <commtask/commtask.h>
#include <omp.h>

/* If the compiler does not know the comm clause, it must not drop the communication. Without the
 * plugin, clang ignores an unknown clause with the rest of its line; without -fopenmp, clang
 * ignores the whole line. In both cases clang only warns. The pragmas below turn both warnings
 * into errors in files that include this header. gcc rejects unknown clauses itself. Tools that
 * read programs without the plugin, e.g. clangd, may define COMMTASK_NO_CLAUSE_CHECK. */
#if defined(__clang__) && !defined(COMMTASK_NO_CLAUSE_CHECK)
#pragma clang diagnostic error "-Wextra-tokens"
#pragma clang diagnostic error "-Wsource-uses-openmp"
#elif !defined(__clang__) && !defined(_OPENMP) && !defined(COMMTASK_NO_CLAUSE_CHECK)
#error "<commtask/omp.h> needs OpenMP: compile with -fopenmp"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a communication task. COMMTASK_OMP_OPTIONS_INIT sets all defaults. */
typedef struct commtask_omp_options {
    size_t struct_size;      /**< sizeof(commtask_omp_options). */
    uint32_t flags;          /**< COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE. */
    int priority;            /**< Of the OpenMP task (commtask_omp_spawn only); OpenMP ignores priorities
                                  unless OMP_MAX_TASK_PRIORITY is set. */
    commtask_status* status; /**< How the operation ended, written before its dependents run; may be null.
                                  Initialize it with COMMTASK_STATUS_INIT. */
    commtask_ticket ticket;  /**< commtask_omp_start and commtask_omp_bind_operation only: a ticket that
                                  was taken when the task was created; 0: none. */
    MPI_Status* mpi_status;  /**< commtask_omp_bind_operation only: MPI's own status with its MPI_ERROR,
                                  written before the dependents run; may be null. */
} commtask_omp_options;

#define COMMTASK_OMP_OPTIONS_INIT COMMTASK_INIT_(commtask_omp_options)

/** An operation with its ticket, prepared where a task is created and started in the body of that
 *  task.
 *  The structure is a plain value that firstprivate can copy. commtask_omp_prepare makes it; its
 *  fields are private. */
typedef struct commtask_omp_task {
    size_t struct_size;           /**< sizeof(commtask_omp_task). */
    commtask_op operation;        /**< The operation. */
    commtask_omp_options options; /**< The options. */
    const char* file;             /**< The file of the directive that creates the task; null: not known. */
    int line;                     /**< The line in `file`. */
    int code;                     /**< COMMTASK_OK, or why the operation cannot be started. */
    void* waiting;                /**< The entry in the list of prepared tasks; null: none. */
    uint64_t waiting_number;      /**< The number of that entry. */
} commtask_omp_task;

/** Describes a communication task that failed. OpenMP has no failed tasks: the dependents run
 *  anyway. */
typedef struct commtask_omp_error {
    size_t struct_size;            /**< sizeof(commtask_omp_error) of the library. */
    int code;                      /**< COMMTASK_FAILED, COMMTASK_CANCELED, or why the task was never
                                        posted. */
    commtask_kind kind;            /**< Of the operation; 0 if there was none. */
    const commtask_status* status; /**< How the operation ended; null: it was never posted, or has not
                                        ended. */
    int has_status;                /**< 1 if the user gave a status, which then has the error too. */
    const char* message;           /**< The error message; valid during the call. */
} commtask_omp_error;

/** Error handler: called for every communication task that was rejected, failed or was canceled.
 *  The caller is the worker, or the OpenMP thread that created or ran the task. The handler must
 *  not block and must not throw.
 *  The handler is also called, with ERR_UNFINISHED, for an explicit task that ended before
 *  communication tasks that it created, if no taskgroup is around them (COMMTASK_OMP_CHECK in
 *  docs/configuration.md). In that call the handler must create no tasks and must not wait. */
typedef void (*commtask_omp_error_handler)(const commtask_omp_error* error, void* argument);

/** Tests whether this process can have communication tasks: LLVM's OpenMP runtime must serve all
 *  OpenMP code of the process.
 *  @return COMMTASK_OK; ERR_RUNTIME if another runtime, e.g. libgomp, serves code that gcc
 *          compiled: that runtime would silently start tasks too early.
 *          commtask_omp_last_error() then says how to fix that. After COMMTASK_OK it says why
 *          operations cannot be bound to tasks (commtask/omp_bind.h), or is "" if they can be.
 *  @threads Any, at any time, also before commtask_init. Every other function of this header makes
 *           this test itself. */
COMMTASK_API int commtask_omp_check(void) COMMTASK_NOEXCEPT;

/** Creates an OpenMP task that performs an operation.
 *  The new task is a child of the current task, so its dependences match those of sibling tasks
 *  that have depend clauses. Addresses match by their first byte, as in OpenMP. If its taskgroup is
 *  cancelled before the task has begun, the task's ticket is released and its operation is
 *  never posted.
 *  @param operation  the operation; copied.
 *  @param options    order, priority, status; null: defaults. Collectives, and messages with
 *                    COMMTASK_ORDERED, are ordered by their calls of this function, not by the
 *                    order in which the tasks run.
 *  @param n_in       the number of addresses in `in`.
 *  @param in         what the operation reads, e.g. the buffer of a send; copied, may be null if
 *                    n_in is 0.
 *  @param n_out      the number of addresses in `out`.
 *  @param out        what the operation writes, e.g. the buffer of a receive.
 *  @param n_inout    the number of addresses in `inout`.
 *  @param inout      what the operation reads and writes.
 *  @return COMMTASK_OK; ERR_RUNTIME, ERR_ARGUMENT, ERR_NOT_INITIALIZED, ERR_COMM: no task was
 *          created. The error handler is called for these refusals too.
 *  @buffers As for commtask_post, from this call until the task has completed; the status too. With
 *           MPI_THREAD_MULTIPLE, handles may be freed when the call returns; a reduction operation
 *           may be freed when the task has completed.
 *  @blocking No; like every task construct it may run other tasks.
 *  @failures Every later failure is reported to the status and the error handler; dependents run.
 *            Without both, the communicator's error handler applies
 *            (commtask_omp_set_error_handler), also for refusals. */
COMMTASK_API int commtask_omp_spawn(const commtask_op* operation, const commtask_omp_options* options, size_t n_in,
                                    const void* const* in, size_t n_out, const void* const* out, size_t n_inout,
                                    const void* const* inout) COMMTASK_NOEXCEPT;

/** Starts an operation inside a task with a detach clause, and fulfils the task's event when the
 *  operation has ended, with or without success.
 *  The task should be `untied`: tied tasks can deadlock when the tasks that create them wait for
 *  them. The task must not be undeferred (`if(0)`): libomp does not wait for such a task.
 *  The caller must be compiled with clang: code from gcc gets no event from libomp.
 *  @param operation  the operation; copied.
 *  @param options    order, status, ticket; null: defaults. Without a ticket, the position in
 *                    program order is that of this call.
 *  @param event      of the detach clause. The event is fulfilled in any case, also if the
 *                    operation is refused.
 *  @return COMMTASK_OK, or why the operation was refused; the status and the error handler have the
 *          reason too.
 *  @buffers As for commtask_post.
 *  @blocking As commtask_post. If the worker is shared, the call may run other tasks, like a task
 *            construct: the caller must not have a lock that one of those tasks takes. */
COMMTASK_API int commtask_omp_start(const commtask_op* operation, const commtask_omp_options* options,
                                    omp_event_handle_t event) COMMTASK_NOEXCEPT;

/** Prepares an operation for a task that the calling task is about to create. Collectives, and
 *  messages with COMMTASK_ORDERED, get their position in program order in this call.
 *  @param operation  the operation; copied.
 *  @param flags      COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE.
 *  @param status     as in commtask_omp_options; may be null.
 *  @param file       __FILE__, which error messages name; null: not known.
 *  @param line       __LINE__.
 *  @param task       with its struct_size set; written, for commtask_omp_start_prepared or
 *                    commtask_omp_drop. An invalid operation is reported when the task is started.
 *  @return COMMTASK_OK; ERR_ARGUMENT: a null pointer, or a task without its struct_size. */
COMMTASK_API int commtask_omp_prepare_task(const commtask_op* operation, uint32_t flags, commtask_status* status,
                                           const char* file, int line, commtask_omp_task* task) COMMTASK_NOEXCEPT;

/** Calls commtask_omp_prepare_task for an operation that is an argument by value; the comm clause
 *  generates this call.
 *  @param operation  the operation.
 *  @param flags      as for commtask_omp_prepare_task.
 *  @param status     as for commtask_omp_prepare_task.
 *  @param file       as for commtask_omp_prepare_task.
 *  @param line       as for commtask_omp_prepare_task.
 *  @return the prepared task, for commtask_omp_start_prepared or commtask_omp_drop. */
static inline commtask_omp_task commtask_omp_prepare_at(commtask_op operation, uint32_t flags, commtask_status* status,
                                                        const char* file, int line) COMMTASK_NOEXCEPT {
    commtask_omp_task task = COMMTASK_INIT_(commtask_omp_task);
    const int code = commtask_omp_prepare_task(&operation, flags, status, file, line, &task);
    if (code != COMMTASK_OK) task.code = code;
    return task;
}

/** Calls commtask_omp_prepare_at without a source location.
 *  @param operation  the operation.
 *  @param flags      as for commtask_omp_prepare_task.
 *  @param status     as for commtask_omp_prepare_task.
 *  @return as commtask_omp_prepare_at. */
static inline commtask_omp_task commtask_omp_prepare(commtask_op operation, uint32_t flags,
                                                     commtask_status* status) COMMTASK_NOEXCEPT {
    return commtask_omp_prepare_at(operation, flags, status, (const char*)0, 0);
}

/** Calls commtask_omp_start for a prepared task. The prepared task is used up, also if its
 *  operation is rejected. If no ticket could be taken when the task was prepared, the task cannot
 *  be started later.
 *  @param task   from commtask_omp_prepare; copied.
 *  @param event  as for commtask_omp_start.
 *  @return as commtask_omp_start. */
COMMTASK_API int commtask_omp_start_prepared(const commtask_omp_task* task, omp_event_handle_t event) COMMTASK_NOEXCEPT;

/** Drops a prepared task, so that later collectives and commtask_omp_wait_all do not wait for it.
 *  @param task  from commtask_omp_prepare, not started.
 *  @return COMMTASK_OK, or an ERR_ code. */
COMMTASK_API int commtask_omp_drop(const commtask_omp_task* task) COMMTASK_NOEXCEPT;

/** Returns a dependence object for a task that has a ticket; only the comm clause calls it.
 *  @param copies  a list of copies, for commtask_omp_drop_depobjs_; null at first.
 *  @param object  of the program; not changed.
 *  @return the object, or a copy of it in which mutexinoutset is inout. */
COMMTASK_API omp_depend_t* commtask_omp_depobj_in_turn_(void** copies, const omp_depend_t* object) COMMTASK_NOEXCEPT;

/** Frees the copies that commtask_omp_depobj_in_turn_ made, after the task has been created.
 *  @param copies  from commtask_omp_depobj_in_turn_; may be null. */
COMMTASK_API void commtask_omp_drop_depobjs_(void* copies) COMMTASK_NOEXCEPT;

/** Waits until every communication task that any thread created through this library has ended.
 *  While it waits, the thread runs tasks of its team and, if the worker is shared, makes progress.
 *  OpenMP's waiting constructs do the same for the communication tasks that they wait for;
 *  docs/openmp.md lists the constructs that do not make progress. Tasks that depend on
 *  communication may still be running when the call returns; the next waiting construct waits for
 *  them. In a team of one thread the call runs only tasks that communication tasks release. Tasks
 *  that wait for an event of the program, which another thread fulfils, run in the next construct,
 *  so no communication task may depend on them.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking Until the communication tasks have ended, including tasks whose dependences are not
 *            met yet. None of them may depend on later work of the calling thread. Call it in the
 *            task that created the graph: inside another tied task, OpenMP lets the thread start
 *            only descendants of that task.
 *  @threads Any; other threads may create tasks meanwhile, and the call waits for them too. */
COMMTASK_API int commtask_omp_wait_all(void) COMMTASK_NOEXCEPT;

/** Waits as commtask_omp_wait_all, until at most `most_open` communication tasks have not ended.
 *  A thread that creates a long graph should call it repeatedly: libomp limits the number of ready
 *  tasks, but not of tasks whose dependences are not met, which need 1 to 3 KB each.
 *  @param most_open  maximum number of incomplete tasks on return; 0: as commtask_omp_wait_all.
 *  @return as commtask_omp_wait_all.
 *  @blocking As commtask_omp_wait_all. The calling thread may create afterwards what the newest
 *            `most_open` tasks need, but nothing that other tasks need.
 *  @threads Any. */
COMMTASK_API int commtask_omp_wait_some(size_t most_open) COMMTASK_NOEXCEPT;

/** Makes progress for a moment if the worker is shared, and runs tasks that become ready by that
 *  progress.
 *  The call is a scheduling point like taskyield, for compute tasks on oversubscribed cores. With a
 *  reserved worker it does almost nothing.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking No, but the tasks that it runs take their time.
 *  @threads Any, in a task or outside. */
COMMTASK_API int commtask_omp_progress(void) COMMTASK_NOEXCEPT;

/** Sets the function that is called for communication tasks that failed.
 *  @param handler   null: none. Without handler and status, the error handler of the communicator
 *                   applies, as for an MPI call: MPI_ERRORS_ARE_FATAL, MPI's default, ends the job;
 *                   with MPI_ERRORS_RETURN the program continues, and commtask_finalize returns
 *                   COMMTASK_FAILED.
 *  @param argument  passed to the handler.
 *  @threads Any, at any time; tasks that end meanwhile may still reach the previous handler. */
COMMTASK_API void commtask_omp_set_error_handler(commtask_omp_error_handler handler, void* argument) COMMTASK_NOEXCEPT;

/** Returns how many communication tasks failed since the program began, or since
 *  commtask_omp_clear_errors.
 *  @return the number. */
COMMTASK_API uint64_t commtask_omp_error_count(void) COMMTASK_NOEXCEPT;

/** Returns the first error since the program began, or since commtask_omp_clear_errors.
 *  @param text        receives the error message, cut to size_bytes and null-terminated; may be
 *                     null if size_bytes is 0.
 *  @param size_bytes  of text.
 *  @return the code of the error; COMMTASK_OK if there was none (text is then empty). */
COMMTASK_API int commtask_omp_first_error(char* text, size_t size_bytes) COMMTASK_NOEXCEPT;

/** Clears the errors so far. The message of commtask_finalize about failed tasks without a status
 *  or handler is not cleared. */
COMMTASK_API void commtask_omp_clear_errors(void) COMMTASK_NOEXCEPT;

/** Returns the message of the last negative code that a commtask_omp_ function returned on this
 *  thread.
 *  @return valid until the next such code on this thread; "" if there was none. */
COMMTASK_API const char* commtask_omp_last_error(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include <commtask/omp_bind.h>
#include <commtask/omp_macros.h>
#endif
