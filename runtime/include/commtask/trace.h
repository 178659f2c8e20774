/* SPDX-License-Identifier: Apache-2.0
 *
 * Events in a trace (COMMTASK_TRACE) besides communication tasks: compute tasks and regions of
 * threads. Front ends record the tasks of their tasking runtime; programs may record tasks and
 * regions of their own. Without a trace every function returns at once. See
 * docs/trace-format.md. */
#ifndef COMMTASK_TRACE_H
#define COMMTASK_TRACE_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The programming model that a compute task belongs to. */
typedef enum commtask_trace_model {
    COMMTASK_TRACE_OPENMP = 1,
    COMMTASK_TRACE_TBB = 2,
    COMMTASK_TRACE_PROGRAM = 3,
    COMMTASK_TRACE_NODE = 4 /**< A front end forwards a received message; no computation. */
} commtask_trace_model;

/** How a compute task leaves the thread that runs it. */
typedef enum commtask_trace_end {
    COMMTASK_TRACE_COMPLETED = 0,
    COMMTASK_TRACE_PAUSED = 1,    /**< Another task runs here; a later commtask_trace_compute_begin resumes this one. */
    COMMTASK_TRACE_BODY_DONE = 2, /**< Its body has returned; the fulfilment of an event will end it. */
    COMMTASK_TRACE_FULFILLED = 3, /**< The event was fulfilled, on any thread. */
    COMMTASK_TRACE_CANCELED = 4
} commtask_trace_end;

/** The owner of a region. */
typedef enum commtask_trace_region {
    COMMTASK_TRACE_REGION_MPI = 1,    /**< An MPI call. */
    COMMTASK_TRACE_REGION_OPENMP = 2, /**< A parallel region, a barrier, a taskwait. */
    COMMTASK_TRACE_REGION_PROGRAM = 3,
    COMMTASK_TRACE_REGION_TBB = 4 /**< A thread is in an arena. */
} commtask_trace_region;

/** Tells whether a trace is being written.
 *  @return 1 or 0. */
COMMTASK_API int commtask_trace_is_on(void) COMMTASK_NOEXCEPT;

/** Returns the number of a text in the traces of this process. The call takes a lock, so store the
 *  number.
 *  @param text  at most 4096 bytes are used.
 *  @return the number; 0 if memory is exhausted. */
COMMTASK_API uint32_t commtask_trace_text(const char* text) COMMTASK_NOEXCEPT;

/** Records the creation of a compute task.
 *  @param model  a commtask_trace_model.
 *  @param name  a number from commtask_trace_text, or 0.
 *  @param parent  the compute task that created it, or 0.
 *  @return its identifier in the trace; 0 without a trace, which the other functions ignore. */
COMMTASK_API uint64_t commtask_trace_compute_created(int model, uint32_t name, uint64_t parent) COMMTASK_NOEXCEPT;

/** Returns the compute task that the calling thread runs.
 *  @return its identifier; 0: none, or there is no trace. */
COMMTASK_API uint64_t commtask_trace_running(void) COMMTASK_NOEXCEPT;

/** Records that the calling thread starts or resumes a compute task. Communication tasks that the
 *  thread posts until commtask_trace_compute_end belong to the compute task.
 *  @param id  the compute task. */
COMMTASK_API void commtask_trace_compute_begin(uint64_t id) COMMTASK_NOEXCEPT;

/** Records that the calling thread stops running a compute task.
 *  @param id  the compute task.
 *  @param how  a commtask_trace_end. */
COMMTASK_API void commtask_trace_compute_end(uint64_t id, int how) COMMTASK_NOEXCEPT;

/** Returns the identifier of a communication task in the trace, for commtask_trace_after.
 *  @param task  a handle, or COMMTASK_NULL.
 *  @return the identifier; 0 for COMMTASK_NULL and without a trace. */
COMMTASK_API uint64_t commtask_trace_task(commtask_t task) COMMTASK_NOEXCEPT;

/** Returns, in a callback, the identifier of the task that has ended.
 *  @return the identifier, for commtask_trace_after. Outside a callback: the identifier of the last
 *          task whose end the calling thread has processed; 0 if there is none. */
COMMTASK_API uint64_t commtask_trace_ended(void) COMMTASK_NOEXCEPT;

/** Records that a compute task waits for another task, before its begin or before it resumes.
 *  @param id  the compute task.
 *  @param before  the compute or communication task that it waits for. */
COMMTASK_API void commtask_trace_after(uint64_t id, uint64_t before) COMMTASK_NOEXCEPT;

/** Records the beginning of a region of the calling thread. Regions nest.
 *  @param region  a commtask_trace_region.
 *  @param name  a number from commtask_trace_text. */
COMMTASK_API void commtask_trace_region_begin(int region, uint32_t name) COMMTASK_NOEXCEPT;

/** Records the end of the innermost region.
 *  @param region  a commtask_trace_region.
 *  @param name  as at its beginning. */
COMMTASK_API void commtask_trace_region_end(int region, uint32_t name) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
