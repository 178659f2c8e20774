/* SPDX-License-Identifier: Apache-2.0
 *
 * Registration of MPI windows, so that one-sided operations on them are tasks (one_sided.h). The
 * worker makes progress on registered windows even if this process communicates nothing, so
 * accesses of other ranks do not wait for the compute threads here (docs/one-sided.md). */
#ifndef COMMTASK_WINDOW_H
#define COMMTASK_WINDOW_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Registers a window: opens a passive-target epoch (MPI_Win_lock_all), and lets the worker make
 *  progress for accesses of other ranks. All ranks of the window call it, in the same order as
 *  other collectives on `comm`, while the window is in no epoch. Until commtask_win_unregister the
 *  program calls no synchronisation on the window, except MPI_Win_sync for its own loads and
 *  stores.
 *  @param window  of any flavor. While it is registered, its errors are returned as codes, whatever
 *                 its error handler is. MPICH 4.0 has an error in some windows of MPI_Win_allocate
 *                 (docs/one-sided.md).
 *  @param comm  a communicator with the ranks of the window in the same order, such as the one that
 *               the window was created on.
 *  @return COMMTASK_OK; ERR_WINDOW: `window` is MPI_WIN_NULL, registered already or in an epoch;
 *          ERR_COMM: `comm` is no communicator, an intercommunicator, or has other ranks;
 *          ERR_WORKER_THREAD, ERR_NOT_INITIALIZED, ERR_NO_MEMORY. All ranks succeed, or all return
 *          an error. One exception: a rank with a null or registered window returns at once, and
 *          the other ranks wait for it.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_register(MPI_Win window, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Registers a window whose epochs the program opens and closes by tasks: win_fence; win_post,
 *  win_start, win_complete and win_wait; win_lock, win_unlock, win_lock_all and win_unlock_all. All
 *  ranks call it, as they call commtask_win_register. These functions of MPI block, so a thread of
 *  the window makes all its MPI calls, in the order in which the operations were posted or took
 *  their tickets. COMMTASK_TRY, COMMTASK_UNORDERED and plans are not allowed. A put or get ends
 *  when MPI has it; its buffer belongs to the operation until a flush, or the task that closes the
 *  epoch, has ended. put_notify, get_notify and await_notify need commtask_win_register.
 *  @param window  as for commtask_win_register.
 *  @param comm  as for commtask_win_register.
 *  @return as commtask_win_register; ERR_THREAD_LEVEL: MPI gave less than MPI_THREAD_MULTIPLE;
 *          ERR_NO_MEMORY also if no thread can be created. A later post without the epoch that it
 *          needs returns ERR_WINDOW.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_register_epochs(MPI_Win window, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Ends the registration of a window: completes all operations at their targets and closes the
 *  library's epoch. All ranks of the window call it, before MPI_Win_free and commtask_finalize.
 *  docs/one-sided.md describes what happens if the program frees a registered window instead.
 *  @param window  registered, without incomplete tasks on this rank.
 *  @return COMMTASK_OK; ERR_WINDOW: it is not registered, or an epoch of the program is open;
 *          ERR_RUNNING: tasks of the window have not ended. Wait for them and call again, since the
 *          other ranks wait. FAILED: MPI could not close the epoch; ERR_WORKER_THREAD,
 *          ERR_NOT_INITIALIZED.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_unregister(MPI_Win window) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
