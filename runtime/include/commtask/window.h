/* SPDX-License-Identifier: Apache-2.0
 *
 * Registration of an MPI window, so that one-sided operations on it are tasks (one_sided.h). A
 * registered window has a passive-target epoch to all ranks, opened by the library. The worker
 * makes progress even if this process communicates nothing, so accesses of other ranks do not
 * wait for the compute threads here. docs/one-sided.md explains both. */
#ifndef COMMTASK_WINDOW_H
#define COMMTASK_WINDOW_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Registers a window: opens a passive-target epoch on it (MPI_Win_lock_all), and lets the worker
 *  make progress for accesses of other ranks. All ranks of the window call it, in the same order as
 *  other collectives on `comm`, while the window is in no epoch. Until commtask_win_unregister the
 *  program calls no synchronisation of its own on the window, except MPI_Win_sync to access its own
 *  window by loads and stores.
 *  @param window  of any flavor. While it is registered, its errors are returned as codes, whatever
 *                 its error handler is. MPICH 4.0 writes to the wrong offset in MPI_Win_allocate
 *                 windows whose parts are no multiple of 16 bytes (docs/one-sided.md).
 *  @param comm  a communicator with the ranks of the window in the same order, such as the one that
 *               the window was made on.
 *  @return COMMTASK_OK; ERR_WINDOW: it is MPI_WIN_NULL, registered already, in an epoch, or another
 *          rank was refused; ERR_COMM: `comm` is no communicator, an intercommunicator, or has
 *          other ranks; ERR_WORKER_THREAD: called in a callback; ERR_NOT_INITIALIZED,
 *          ERR_NO_MEMORY. All ranks succeed, or all are refused. One exception: a rank with a null
 *          or registered window is refused at once, and the other ranks wait for it.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_register(MPI_Win window, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Registers a window that the program synchronises by tasks: win_fence; win_post, win_start,
 *  win_complete and win_wait; win_lock, win_unlock, win_lock_all and win_unlock_all. All ranks call
 *  it, as they call commtask_win_register.
 *  MPI has no nonblocking form of these calls, so a thread of the window makes all its MPI calls,
 *  one after the other. Their order is the order in which the operations were posted or took their
 *  tickets, whichever becomes ready first. COMMTASK_TRY, COMMTASK_UNORDERED and plans are refused.
 *  The end of a put or get says only that MPI has it: its buffer belongs to the operation until a
 *  flush, or the task that ends its epoch, has ended. put_notify, get_notify and await_notify need
 *  commtask_win_register.
 *  @param window  as for commtask_win_register.
 *  @param comm  as for commtask_win_register.
 *  @return as commtask_win_register; ERR_THREAD_LEVEL: MPI gave less than MPI_THREAD_MULTIPLE,
 *          which the thread needs; ERR_NO_MEMORY also if the system gave no thread. A later post is
 *          refused with ERR_WINDOW and a sentence if its epoch is not open, or cannot be opened.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_register_epochs(MPI_Win window, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Ends the registration of a window: completes all operations at their targets, ends the library's
 *  epoch, and lets the worker sleep again. All ranks of the window call it, before MPI_Win_free and
 *  before commtask_finalize.
 *  If the program frees a registered window instead, its unfinished tasks fail with MPI_ERR_WIN.
 *  One exception: a put, get, accumulate or fetch that has started in the library's epoch ends as
 *  MPI ends it. An await_notify fails when its next notification comes; without one it never ends,
 *  so cancel it.
 *  @param window  registered, without unfinished tasks on this rank.
 *  @return COMMTASK_OK; ERR_WINDOW: it is not registered, or an epoch of the program is open;
 *          ERR_RUNNING: tasks of the window have not ended. Wait for them and call again, since the
 *          other ranks wait. FAILED: MPI could not end the epoch; ERR_WORKER_THREAD: called in a
 *          callback; ERR_NOT_INITIALIZED.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_unregister(MPI_Win window) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
