/* SPDX-License-Identifier: Apache-2.0
 *
 * Communication as OpenMP tasks: an MPI operation takes part in the dependences of the OpenMP tasks around it, and the
 * tasks that depend on it run as soon as it has completed. Three ways, for C and C++: the macro COMM_TASK (one line,
 * any compiler), commtask_omp_spawn (what the macro calls), and the bridge for those who write the detach clause.
 * They need LLVM's OpenMP runtime, under gcc too: libgomp in the process is refused (see commtask_omp_check). */
#ifndef COMMTASK_OMP_H
#define COMMTASK_OMP_H

#include <commtask/commtask.h>
#include <omp.h>

/* A compiler that does not know the comm clause must not drop the communication. clang ignores an unknown clause with
 * the rest of its line, and without -fopenmp the whole line, with no more than a warning: both become errors for the
 * files that read this header. gcc refuses unknown clauses itself. Tools that read programs without the plugin, e.g.
 * clangd, may define COMMTASK_NO_CLAUSE_CHECK. */
#if defined(__clang__) && !defined(COMMTASK_NO_CLAUSE_CHECK)
#pragma clang diagnostic error "-Wextra-tokens"
#pragma clang diagnostic error "-Wsource-uses-openmp"
#elif !defined(__clang__) && !defined(_OPENMP) && !defined(COMMTASK_NO_CLAUSE_CHECK)
#error "<commtask/omp.h> needs OpenMP: compile with -fopenmp"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What may be said about a communication task beside its operation. COMMTASK_OMP_OPTIONS_INIT is all defaults. */
typedef struct commtask_omp_options {
    size_t struct_size;      /**< sizeof(commtask_omp_options). */
    uint32_t flags;          /**< COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE. */
    int priority;            /**< Of the OpenMP task (commtask_omp_spawn only); OpenMP ignores it unless
                                  OMP_MAX_TASK_PRIORITY is set. */
    commtask_status* status; /**< How the operation ended, written before its dependents run; may be null. It begins as
                                  COMMTASK_STATUS_INIT. */
    commtask_ticket
        ticket; /**< commtask_omp_start and commtask_omp_bind_operation only: a place taken when the task was
                                  created; 0: none. */
    MPI_Status*
        mpi_status; /**< commtask_omp_bind_operation only: MPI's own status, written before the dependents run, with
                                  its MPI_ERROR; may be null. */
} commtask_omp_options;

#define COMMTASK_OMP_OPTIONS_INIT COMMTASK_INIT_(commtask_omp_options)

/** An operation with its place in program order, made where the task is created and started in the task's body. It is
 *  a plain value, so that firstprivate can carry it. Make it with commtask_omp_prepare and do not look inside. */
typedef struct commtask_omp_task {
    size_t struct_size;           /**< sizeof(commtask_omp_task). */
    commtask_op operation;        /**< What to do. */
    commtask_omp_options options; /**< How. */
    const char* file;             /**< Where the directive is that creates it; null: not known. */
    int line;                     /**< In `file`. */
    int code;                     /**< Why it cannot be done; COMMTASK_OK: it can. */
    void* waiting;                /**< Its place in the list of what has not started; null: it has none. */
    uint64_t waiting_number;      /**< Its number there. */
} commtask_omp_task;

/** What went wrong with one communication task. OpenMP has no failed task: its dependents run all the same. */
typedef struct commtask_omp_error {
    size_t struct_size; /**< sizeof(commtask_omp_error) of the library. */
    int code;           /**< COMMTASK_FAILED, COMMTASK_CANCELED, or why it was never posted. */
    commtask_kind kind; /**< Of the operation; 0 if it had none. */
    const commtask_status*
        status;           /**< How it ended; null if it was never posted, or has not ended (see the handler). */
    int has_status;       /**< 1 if the user gave a status, and so can see it there. */
    const char* sentence; /**< For people; valid during the call. */
} commtask_omp_error;

/** Called for every communication task that was refused, failed or was canceled; on the worker, or on the OpenMP
 *  thread that created or ran the task. It must not block, and an exception must not leave it.
 *  Also, with ERR_UNFINISHED, for an explicit task that ended before communication tasks that it created, with no taskgroup
 *  around (COMMTASK_OMP_CHECK in docs/configuration.md); then it must create no tasks and wait for nothing. */
typedef void (*commtask_omp_error_handler)(const commtask_omp_error* error, void* argument);

/** Whether this process can have communication tasks: LLVM's OpenMP runtime must serve all its OpenMP code.
 *  @return COMMTASK_OK; ERR_RUNTIME if another runtime, e.g. libgomp, serves code that gcc compiled: it would start
 *          tasks too early, silently. commtask_omp_last_error() says what to do. After COMMTASK_OK it says why tasks cannot be
 *          held (commtask/omp_bind.h), or is "" if they can; that is no failure, as only programs that hold tasks need it.
 *  @threads Any, at any time, also before commtask_init. Every other function asks by itself. */
COMMTASK_API int commtask_omp_check(void) COMMTASK_NOEXCEPT;

/** Creates an OpenMP task that performs an operation; a child of the current task, so that its dependences match those
 *  of the tasks that the current task creates with depend clauses. Addresses match as OpenMP matches them: by the
 *  first byte. In a cancelled taskgroup a task that has not begun gives its place up and is never posted.
 *  @param operation  what to do; copied.
 *  @param options    order, priority, status; null: defaults. Collectives, and messages with COMMTASK_ORDERED, take
 *                    their place in the communicator's order in this call, so it does not matter when they run.
 *  @param n_in       how many addresses `in` has.
 *  @param in         what the operation reads, e.g. the buffer of a send; copied, may be null if n_in is 0.
 *  @param n_out      how many addresses `out` has.
 *  @param out        what the operation writes, e.g. the buffer of a receive.
 *  @param n_inout    how many addresses `inout` has.
 *  @param inout      what it reads and writes.
 *  @return COMMTASK_OK; ERR_RUNTIME, ERR_ARGUMENT, ERR_NOT_INITIALIZED, ERR_COMM: no task was created. The error
 *          handler hears of these too.
 *  @buffers As for commtask_post, from this call until the task has completed. The status too. Handles may be freed when
 *           the call returns with MPI_THREAD_MULTIPLE; a reduction operation, when the task has completed.
 *  @blocking No; like every task construct it may run other tasks.
 *  @failures Everything that happens after this call reaches the status and the error handler; dependents run. Without both,
 *           the communicator's error handler decides (commtask_omp_set_error_handler); for refusals too. */
COMMTASK_API int commtask_omp_spawn(const commtask_op* operation, const commtask_omp_options* options, size_t n_in,
                                    const void* const* in, size_t n_out, const void* const* out, size_t n_inout,
                                    const void* const* inout) COMMTASK_NOEXCEPT;

/** Begins an operation inside a task with a detach clause, and fulfils the task's event when it has ended, however it
 *  ended. The task should be `untied`: tied ones can deadlock when tasks that create them wait for them. It must not
 *  be undeferred (`if(0)`): libomp does not wait for such a task.
 *
 *  Compile this with clang: code of gcc gets no event from libomp.
 *  @param operation  what to do; copied.
 *  @param options    order, status, ticket; null: defaults. Without a ticket the operation takes its place now.
 *  @param event      of the detach clause. It is fulfilled in any case, also if the operation is refused.
 *  @return COMMTASK_OK, or why the operation was refused; the status and the error handler have it too.
 *  @buffers As for commtask_post.
 *  @blocking As commtask_post; where the worker has no core of its own it may run other tasks, like a task construct: do
 *            not call it with a lock held that one of them takes. */
COMMTASK_API int commtask_omp_start(const commtask_op* operation, const commtask_omp_options* options,
                                    omp_event_handle_t event) COMMTASK_NOEXCEPT;

/** Makes an operation ready to be started in a task that the calling task is about to create: collectives, and messages with
 *  COMMTASK_ORDERED, take their place now.
 *  @param operation  what to do; copied.
 *  @param flags      COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE.
 *  @param status     as in commtask_omp_options; may be null.
 *  @param file       __FILE__, to stand behind a refusal; null: not known.
 *  @param line       __LINE__.
 *  @param task       with its struct_size set; written, for commtask_omp_start_prepared or commtask_omp_drop. What is wrong
 *                    with the operation is reported when it is started.
 *  @return COMMTASK_OK; ERR_ARGUMENT: a null pointer, or a task that does not know its size. */
COMMTASK_API int commtask_omp_prepare_task(const commtask_op* operation, uint32_t flags, commtask_status* status,
                                           const char* file, int line, commtask_omp_task* task) COMMTASK_NOEXCEPT;

/** commtask_omp_prepare_task for an operation that is made in the same line; what the comm clause calls.
 *  @param operation  what to do.
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

/** commtask_omp_prepare_at without a place in the program.
 *  @param operation  what to do.
 *  @param flags      as for commtask_omp_prepare_task.
 *  @param status     as for commtask_omp_prepare_task.
 *  @return as commtask_omp_prepare_at. */
static inline commtask_omp_task commtask_omp_prepare(commtask_op operation, uint32_t flags,
                                                     commtask_status* status) COMMTASK_NOEXCEPT {
    return commtask_omp_prepare_at(operation, flags, status, (const char*)0, 0);
}

/** commtask_omp_start for a prepared task. The task is used up, also if it is refused; one that was refused its place when
 *  it was prepared stays so, since its place in program order is gone.
 *  @param task   from commtask_omp_prepare; copied.
 *  @param event  as for commtask_omp_start.
 *  @return as commtask_omp_start. */
COMMTASK_API int commtask_omp_start_prepared(const commtask_omp_task* task, omp_event_handle_t event) COMMTASK_NOEXCEPT;

/** Gives a prepared task up, so that later collectives do not wait for its place, nor commtask_omp_wait_all for its end.
 *  @param task  from commtask_omp_prepare, not started.
 *  @return COMMTASK_OK, or an ERR_ code. */
COMMTASK_API int commtask_omp_drop(const commtask_omp_task* task) COMMTASK_NOEXCEPT;

/** A dependence object for a task that has a turn in program order; for the comm clause.
 *  @param copies  where copies are noted, for commtask_omp_drop_depobjs_; null at first.
 *  @param object  of the program; it stays as it is.
 *  @return the object, or a copy of it in which mutexinoutset is inout. */
COMMTASK_API omp_depend_t* commtask_omp_depobj_in_turn_(void** copies, const omp_depend_t* object) COMMTASK_NOEXCEPT;

/** Frees the copies, after the task has been created.
 *  @param copies  of commtask_omp_depobj_in_turn_; may be null. */
COMMTASK_API void commtask_omp_drop_depobjs_(void* copies) COMMTASK_NOEXCEPT;

/** Waits until every communication task that was made through this library, by any thread, has ended. Meanwhile the thread
 *  runs tasks of its team, and makes progress itself where the worker has no core of its own. Constructs of OpenMP do so
 *  too, for the communication tasks that they wait for; docs/openmp.md names the few that leave it to the worker.
 *
 *  Tasks that depend on communication may still be running when it returns; the construct after it waits for them. In a
 *  team of one thread it runs what communication tasks release, and nothing else: tasks that wait for an event of your
 *  own, which another thread fulfils, run in the construct after it, so no communication task may depend on them.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking Until the communication tasks have ended, those included whose dependences are not met yet: none may need
 *            what the calling thread does only after this call. Call it in the task that created the graph: inside
 *            another tied task OpenMP lets the thread start only descendants of that task.
 *  @threads Any; other threads may create tasks meanwhile, which are waited for too. */
COMMTASK_API int commtask_omp_wait_all(void) COMMTASK_NOEXCEPT;

/** commtask_omp_wait_all that is content when at most `most_open` communication tasks have not ended. For a thread that
 *  creates a long graph: libomp bounds the tasks that are ready, but not those whose dependences are not met, so that without
 *  a call of this now and then the whole graph lies in memory, at 1 to 3 KB a task, before most of it has run.
 *  @param most_open  how many may be left; 0: as commtask_omp_wait_all.
 *  @return as commtask_omp_wait_all.
 *  @blocking As commtask_omp_wait_all: what the most_open newest tasks need may still be created afterwards, no more.
 *  @threads Any. */
COMMTASK_API int commtask_omp_wait_some(size_t most_open) COMMTASK_NOEXCEPT;

/** Drives MPI for a moment where the worker has no core of its own, and runs tasks that become ready by it: a scheduling
 *  point for compute tasks on crowded cores, like taskyield. With a reserved worker it does next to nothing.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback.
 *  @blocking No, but the tasks that it runs take their time.
 *  @threads Any, in a task or outside. */
COMMTASK_API int commtask_omp_progress(void) COMMTASK_NOEXCEPT;

/** Sets the function that hears of communication tasks that went wrong.
 *  @param handler   null: none. Then a task that fails or is refused and has no status follows the error handler of its
 *                   communicator, as an MPI call does: MPI_ERRORS_ARE_FATAL, MPI's default, ends the job with a sentence on
 *                   stderr; with MPI_ERRORS_RETURN the program goes on, and commtask_finalize returns COMMTASK_FAILED.
 *  @param argument  handed to it.
 *  @threads Any, at any time; tasks that end meanwhile may still reach the former handler. */
COMMTASK_API void commtask_omp_set_error_handler(commtask_omp_error_handler handler, void* argument) COMMTASK_NOEXCEPT;

/** How many communication tasks went wrong since the program began, or since commtask_omp_clear_errors.
 *  @return the number. */
COMMTASK_API uint64_t commtask_omp_error_count(void) COMMTASK_NOEXCEPT;

/** The first of them.
 *  @param text        where to put its sentence, cut to size_bytes and ended by a null; may be null if size_bytes is 0.
 *  @param size_bytes  of text.
 *  @return its code; COMMTASK_OK if there was none (text is then empty). */
COMMTASK_API int commtask_omp_first_error(char* text, size_t size_bytes) COMMTASK_NOEXCEPT;

/** Forgets the errors so far. What commtask_finalize says of tasks that failed where nobody looked stays. */
COMMTASK_API void commtask_omp_clear_errors(void) COMMTASK_NOEXCEPT;

/** The sentence of the last negative code that a commtask_omp_ function returned on this thread.
 *  @return valid until the next such code on this thread; "" if there was none. */
COMMTASK_API const char* commtask_omp_last_error(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include <commtask/omp_bind.h>
#include <commtask/omp_macros.h>
#endif
