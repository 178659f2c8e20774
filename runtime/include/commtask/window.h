/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a window of MPI known, so that one-sided operations on it are tasks (one_sided.h). From then on its passive epoch
 * towards all ranks is the library's, and the worker lets MPI make progress even if this process communicates nothing: what
 * others ask of its window does not wait for its compute threads. docs/one-sided.md explains both. */
#ifndef COMMTASK_WINDOW_H
#define COMMTASK_WINDOW_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Registers a window: opens its epoch (MPI_Win_lock_all) and makes the worker attentive. All ranks of the window call it, in
 *  the same order with other collectives on `comm`, and with the window in no epoch. Until commtask_win_unregister the program
 *  calls no synchronisation of its own on it; MPI_Win_sync is for one who reads or writes its own window by load and store.
 *  @param window  any flavour. Its errors come back as codes meanwhile, whatever its error handler is. MPICH 4.0 puts beside parts of
 *                 MPI_Win_allocate that are no multiple of 16 bytes (docs/one-sided.md).
 *  @param comm    a communicator with the ranks of the window in the same order, such as the one that it was made on.
 *  @return COMMTASK_OK; ERR_WINDOW: it is MPI_WIN_NULL, registered already, in an epoch, or another rank was refused; ERR_COMM:
 *          comm is no communicator, an intercommunicator, or has other ranks; ERR_WORKER_THREAD: called in a callback;
 *          ERR_NOT_INITIALIZED, ERR_NO_MEMORY. All ranks succeed, or all are refused, but for those with a null or registered window, for whom the
 *          others wait.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_register(MPI_Win window, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Registers a window that the program synchronises itself, by tasks: win_fence; win_post, win_start, win_complete and win_wait;
 *  win_lock, win_unlock and both of all ranks. MPI has no nonblocking form of these, so a thread of the window's own calls MPI
 *  for all its operations, one after the other in the order in which they were posted or took their tickets, whatever becomes ready
 *  when; none may have COMMTASK_TRY, COMMTASK_UNORDERED or a plan. What a put or get is given
 *  belongs to the operation until the task that ends its epoch, or a flush, has ended; its own end says that MPI has it.
 *  put_notify, get_notify and await_notify need commtask_win_register. All ranks call it, as they call that function.
 *  @param window  as there.
 *  @param comm    as there.
 *  @return as there; ERR_THREAD_LEVEL: MPI gave less than MPI_THREAD_MULTIPLE, which the thread needs; ERR_NO_MEMORY also: the
 *          system gave no thread. Until commtask_win_unregister a post is refused with ERR_WINDOW and a sentence if the epoch
 *          that it needs is not open, or the one that it opens cannot be.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_register_epochs(MPI_Win window, MPI_Comm comm) COMMTASK_NOEXCEPT;

/** Ends what commtask_win_register began: completes everything at its target, ends the epoch and lets the worker sleep again.
 *  All ranks of the window call it, before MPI_Win_free and before commtask_finalize.
 *  If the program frees a registered window instead, those of its tasks that have not ended fail with MPI_ERR_WIN, but for a put, get,
 *  accumulate or fetch that has started in the library's epoch: that ends as MPI ends it. An await_notify fails when the next of its
 *  notifications comes; if no further notification comes, it never ends: cancel it.
 *  @param window  registered; none of its tasks is unfinished on this rank.
 *  @return COMMTASK_OK; ERR_WINDOW: it is not registered, or an epoch of the program's is open; ERR_RUNNING: tasks of the window have not ended: wait for them, and
 *          call it again, since the other ranks wait; FAILED: MPI could not end the epoch; ERR_WORKER_THREAD: called in a
 *          callback; ERR_NOT_INITIALIZED.
 *  @blocking Until all ranks have called it. */
COMMTASK_API int commtask_win_unregister(MPI_Win window) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
