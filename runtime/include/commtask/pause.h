/* SPDX-License-Identifier: Apache-2.0
 *
 * Pauses of the workers, so that the program gets their cores for a phase with little or no
 * communication. docs/node.md describes the effect, and a pause of an unmodified program by a
 * signal. */
#ifndef COMMTASK_PAUSE_H
#define COMMTASK_PAUSE_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Pauses the workers of this process until commtask_resume: they leave their cores, and compute
 *  threads may run there. A paused worker polls every 10 ms if tasks are incomplete or a window is
 *  registered; otherwise it blocks. Tasks still work, as in an MPI without workers: a post makes
 *  MPI's call on the posting thread, and a waiting thread makes progress itself. If a thread waits
 *  without calling the library, as in an OpenMP barrier, its tasks complete within some 10 ms.
 *  Accesses of other ranks to a registered window have the same delay. Calls are counted: as many
 *  calls of commtask_resume end the pause.
 *  @return COMMTASK_OK; ERR_NOT_INITIALIZED.
 *  @blocking No: the call does not wait until the workers have left their cores. */
COMMTASK_API int commtask_pause(void) COMMTASK_NOEXCEPT;

/** Undoes one commtask_pause; when all are undone, the workers return to their cores. A pause by a
 *  signal or a file does not end. commtask_finalize undoes all calls of commtask_pause.
 *  @return COMMTASK_OK; ERR_ARGUMENT: the program has not paused; ERR_NOT_INITIALIZED.
 *  @blocking No. */
COMMTASK_API int commtask_resume(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
