/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in a trace (COMMTASK_TRACE) beside communication tasks: compute tasks and regions of threads. For faces, which tell of
 * the tasks of their tasking runtime, and for programs that want names of their own in the picture. Without a trace every
 * function returns at once. See docs/trace-format.md. */
#ifndef COMMTASK_TRACE_H
#define COMMTASK_TRACE_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whose compute task it is. */
typedef enum commtask_trace_model {
    COMMTASK_TRACE_OPENMP = 1,
    COMMTASK_TRACE_TBB = 2,
    COMMTASK_TRACE_PROGRAM = 3,
    COMMTASK_TRACE_NODE = 4 /**< A face hands on what a communication task has brought: nothing is computed. */
} commtask_trace_model;

/** How a compute task leaves the thread that runs it. */
typedef enum commtask_trace_end {
    COMMTASK_TRACE_COMPLETED = 0,
    COMMTASK_TRACE_PAUSED = 1,    /**< Another one runs here; it goes on by another commtask_trace_compute_begin. */
    COMMTASK_TRACE_BODY_DONE = 2, /**< It ends by an event. */
    COMMTASK_TRACE_FULFILLED = 3, /**< That event has come, on whatever thread. */
    COMMTASK_TRACE_CANCELED = 4
} commtask_trace_end;

/** Of a region: who has it. */
typedef enum commtask_trace_region {
    COMMTASK_TRACE_REGION_MPI = 1,    /**< A call of MPI's. */
    COMMTASK_TRACE_REGION_OPENMP = 2, /**< A parallel region, a barrier, a taskwait. */
    COMMTASK_TRACE_REGION_PROGRAM = 3,
    COMMTASK_TRACE_REGION_TBB = 4 /**< A thread is in an arena. */
} commtask_trace_region;

/** Whether a trace is being written now.
 *  @return 1 or 0. */
COMMTASK_API int commtask_trace_is_on(void) COMMTASK_NOEXCEPT;

/** The number that stands for a text in traces of this process. Takes a lock: keep the number.
 *  @param text  at most 4096 bytes of it are kept.
 *  @return the number, or 0 without memory. */
COMMTASK_API uint32_t commtask_trace_text(const char* text) COMMTASK_NOEXCEPT;

/** A compute task has been made.
 *  @param model  whose it is: a commtask_trace_model.
 *  @param name  a number of commtask_trace_text, or 0.
 *  @param parent  the compute task that made it, or 0.
 *  @return its identifier in the trace; 0 without a trace, which the other functions take and ignore. */
COMMTASK_API uint64_t commtask_trace_compute_created(int model, uint32_t name, uint64_t parent) COMMTASK_NOEXCEPT;

/** Which compute task the calling thread runs.
 *  @return its identifier; 0: none, or there is no trace. */
COMMTASK_API uint64_t commtask_trace_running(void) COMMTASK_NOEXCEPT;

/** The calling thread runs a compute task from now on. Communication tasks that it posts meanwhile are that one's.
 *  @param id  the compute task. */
COMMTASK_API void commtask_trace_compute_begin(uint64_t id) COMMTASK_NOEXCEPT;

/** It does so no more.
 *  @param id  the compute task.
 *  @param how  why: a commtask_trace_end. */
COMMTASK_API void commtask_trace_compute_end(uint64_t id, int how) COMMTASK_NOEXCEPT;

/** The identifier of a communication task in the trace, for commtask_trace_after.
 *  @param task  a handle, or COMMTASK_NULL.
 *  @return the identifier; 0 for COMMTASK_NULL and without a trace. */
COMMTASK_API uint64_t commtask_trace_task(commtask_t task) COMMTASK_NOEXCEPT;

/** In a callback: of which communication task it is. For faces whose callback has no handle yet.
 *  @return its identifier, for commtask_trace_after; elsewhere that of the task whose end the calling thread saw last, 0 if it saw none. */
COMMTASK_API uint64_t commtask_trace_ended(void) COMMTASK_NOEXCEPT;

/** A compute task waits for another task: before it begins, or, if it has, before it goes on.
 *  @param id  the one that waits.
 *  @param before  what it waits for, a compute or a communication task. */
COMMTASK_API void commtask_trace_after(uint64_t id, uint64_t before) COMMTASK_NOEXCEPT;

/** A region of the calling thread begins; regions nest.
 *  @param region  whose it is: a commtask_trace_region.
 *  @param name  a number of commtask_trace_text. */
COMMTASK_API void commtask_trace_region_begin(int region, uint32_t name) COMMTASK_NOEXCEPT;

/** The innermost region ends.
 *  @param region  whose it is: a commtask_trace_region.
 *  @param name  as at its beginning. */
COMMTASK_API void commtask_trace_region_end(int region, uint32_t name) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
