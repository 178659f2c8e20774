/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving the workers' cores to the program for a while, in phases that communicate little or nothing. docs/node.md says what a
 * pause brings, and how one who runs an unmodified program makes it by a signal. */
#ifndef COMMTASK_PAUSE_H
#define COMMTASK_PAUSE_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Lets the workers of this process leave their cores until commtask_resume: each ends its pass, and from then on sleeps if
 *  nothing is unfinished, and else looks once in 10 ms at what is. Compute threads may run on the workers' cores meanwhile.
 *  Everything goes on to work, as in an MPI without workers: a post makes MPI's call on the thread that posts, a wait drives MPI
 *  itself, and what somebody waits for without calling the library (in an OpenMP barrier, say) comes within some 10 ms. What
 *  other ranks want of a registered window is as late.
 *  Calls are counted: the workers come back with as many calls of commtask_resume.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED.
 *  @blocking No: it does not wait for the workers to be out of their passes. */
COMMTASK_API int commtask_pause(void) COMMTASK_NOEXCEPT;

/** Undoes one commtask_pause, and no pause by a signal or a file; the last one calls the workers back. commtask_finalize undoes all.
 *  @return COMMTASK_OK; ERR_ARGUMENT: the program has not paused; ERR_NOT_INITIALIZED.
 *  @blocking No. */
COMMTASK_API int commtask_resume(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
