/* SPDX-License-Identifier: Apache-2.0
 *
 * The library part of the oneTBB front end: the watch that cancels the operations of canceled
 * graphs, and the CPU masks of threads. It is C and uses no type of oneTBB, so one build of it
 * serves programs compiled with any oneTBB 2021 or newer. Programs include <commtask/tbb.hpp>
 * instead of this file. */
#ifndef COMMTASK_TBB_SUPPORT_H
#define COMMTASK_TBB_SUPPORT_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A graph whose cancellation is checked periodically while operations are pending. Opaque. */
typedef struct commtask_tbb_watch_s* commtask_tbb_watch_t;

/** Checks whether a graph was canceled. Runs on the watch's thread, one call at a time; must not
 *  block. */
typedef void (*commtask_tbb_check_function)(void* argument);

/** Registers a function that is called periodically.
 *  oneTBB does not notify other code when a graph is canceled. So one thread of this library checks
 *  every 1 to 50 ms the graphs that have operations pending; without pending operations the thread
 *  blocks.
 *  @param check      the function.
 *  @param argument  passed to `check`.
 *  @param watch     written on success; release it with commtask_tbb_watch_remove.
 *  @return COMMTASK_OK, ERR_ARGUMENT, ERR_NO_MEMORY. */
COMMTASK_API int commtask_tbb_watch_add(commtask_tbb_check_function check, void* argument,
                                        commtask_tbb_watch_t* watch) COMMTASK_NOEXCEPT;

/** Releases a watch; its function is not running when this call returns, and is not called
 *  afterwards.
 *  @param watch  set to null.
 *  @blocking While the function runs. */
COMMTASK_API void commtask_tbb_watch_remove(commtask_tbb_watch_t* watch) COMMTASK_NOEXCEPT;

/** Adds one pending operation.
 *  @param watch  the watch.
 *  @blocking No; a system call only if the watch's thread is blocked. */
COMMTASK_API void commtask_tbb_watch_begin(commtask_tbb_watch_t watch) COMMTASK_NOEXCEPT;

/** Removes one pending operation.
 *  @param watch  the watch. */
COMMTASK_API void commtask_tbb_watch_end(commtask_tbb_watch_t watch) COMMTASK_NOEXCEPT;

/** Returns how many CPUs the calling thread may compute on: the CPUs of its mask without the
 *  worker's.
 *  @return the number, at least 1. A worker without a core of its own takes no CPU away. */
COMMTASK_API int commtask_tbb_cpus_count(void) COMMTASK_NOEXCEPT;

/** Removes the worker's CPU from the calling thread's mask.
 *  @threads Any, also after commtask_finalize.
 *  @param cpu  the system's number of the CPU; below 0: none
 *  @return COMMTASK_OK, also if the mask does not have the CPU; ERR_ARGUMENT if the CPU is the only
 *          one in the mask, or the system refused: then the mask is unchanged. */
COMMTASK_API int commtask_tbb_thread_leave(int cpu) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
