/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the oneTBB face lies in a library: the watch that tells canceled graphs' operations, and the masks of threads.
 * It is C and knows no type of oneTBB, so one build of it serves every oneTBB 2021 or newer that a program is compiled
 * with; all that depends on oneTBB is in the C++ headers. Not for callers: <commtask/tbb.hpp> is the interface. */
#ifndef COMMTASK_TBB_SUPPORT_H
#define COMMTASK_TBB_SUPPORT_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Something that is looked at now and then while it has work. Opaque. */
typedef struct commtask_tbb_watch_s* commtask_tbb_watch_t;

/** Looks whether a graph was canceled. Runs on the watch's thread, one look at a time; must not block. */
typedef void (*commtask_tbb_look_function)(void* argument);

/** Adds something to be looked at. oneTBB tells nobody when a graph is canceled, so one thread of this library looks
 *  every 1 to 50 ms at those graphs that have operations pending; without any it sleeps.
 *  @param look      how to look.
 *  @param argument  handed to it.
 *  @param watch     written on success; give it back with commtask_tbb_watch_remove.
 *  @return COMMTASK_OK, ERR_ARGUMENT, ERR_NO_MEMORY. */
COMMTASK_API int commtask_tbb_watch_add(commtask_tbb_look_function look, void* argument,
                                        commtask_tbb_watch_t* watch) COMMTASK_NOEXCEPT;

/** Gives a watch back; it is not looked at during or after this call.
 *  @param watch  set to null.
 *  @blocking While a look is under way. */
COMMTASK_API void commtask_tbb_watch_remove(commtask_tbb_watch_t* watch) COMMTASK_NOEXCEPT;

/** Says that one more operation is pending.
 *  @param watch  the watch.
 *  @blocking No; a system call only if the watch's thread sleeps. */
COMMTASK_API void commtask_tbb_watch_begin(commtask_tbb_watch_t watch) COMMTASK_NOEXCEPT;

/** Says that one operation is pending no more.
 *  @param watch  the watch. */
COMMTASK_API void commtask_tbb_watch_end(commtask_tbb_watch_t watch) COMMTASK_NOEXCEPT;

/** How many CPUs the calling thread may compute on: those of its mask without the worker's.
 *  @return the number, at least 1: a worker without a core of its own takes none away. */
COMMTASK_API int commtask_tbb_cpus_count(void) COMMTASK_NOEXCEPT;

/** Takes a CPU out of the calling thread's mask: the worker's. Any thread, also after commtask_finalize.
 *  @param cpu  as the system counts them; below 0: none
 *  @return COMMTASK_OK, also where there is nothing to take out; ERR_ARGUMENT if it is the mask's only CPU, or the system
 *          refused: then the mask is as before. */
COMMTASK_API int commtask_tbb_thread_leave(int cpu) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
