/* SPDX-License-Identifier: Apache-2.0
 *
 * Pauses of the workers: the program gets their cores for a phase with little or no
 * communication. docs/node.md describes the effect, and how a user pauses an unmodified program
 * by a signal. */
#ifndef COMMTASK_PAUSE_H
#define COMMTASK_PAUSE_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Lets the workers of this process leave their cores until commtask_resume. Each worker ends its
 *  progress call. Then it polls once in 10 ms if tasks are unfinished or a window is registered;
 *  otherwise it sleeps. Compute threads may run on the workers' cores meanwhile.
 *  Tasks still work, as in an MPI without workers: a post makes MPI's call on the posting thread,
 *  and a waiting thread makes progress itself. If a thread waits without calling the library, as in
 *  an OpenMP barrier, its tasks complete within some 10 ms. Accesses of other ranks to a registered
 *  window have the same delay.
 *  Calls are counted: the workers return to their cores after as many calls of commtask_resume.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED.
 *  @blocking No: it does not wait for the workers to end their progress calls. */
COMMTASK_API int commtask_pause(void) COMMTASK_NOEXCEPT;

/** Undoes one commtask_pause; when all are undone, the workers return to their cores. It does not
 *  end a pause by a signal or a file. commtask_finalize undoes all calls of commtask_pause.
 *  @return COMMTASK_OK; ERR_ARGUMENT: the program has not paused; ERR_NOT_INITIALIZED.
 *  @blocking No. */
COMMTASK_API int commtask_resume(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
