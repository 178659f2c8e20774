/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: operations that are recorded once and then done again and again, each time by one call. Where the worker has a core of
 * its own a halo exchange of sixteen messages costs its submitter less than two posts; MPI gets persistent requests. Members may be
 * held until a compute thread says that their buffer is ready, and asked or waited for one by one, so that compute threads release
 * messages without a task for each. docs/plans.md has a halo exchange in every way of writing.
 *
 * Words: what is recorded are the *members* of the plan, numbered from 0 in the order of their posts. A start of the plan is a
 * *run*; one task stands for it. The threads of commtask.h: any thread may call any of these, but for what is said here. */
#ifndef COMMTASK_PLAN_H
#define COMMTASK_PLAN_H

#include <commtask/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/** From now on the calling thread's posts are recorded and nothing is started, until commtask_record_end on the same thread.
 *  commtask_post checks its arguments as always, and takes as predecessors only tasks of the same recording; the handle that it
 *  gives stands for the member in the plan's first run, and is given back like any other. Callback and status of the options
 *  are used in every run. Refused, with ERR_ARGUMENT and a sentence, is what cannot be done again: an event, a ticket or another
 *  task as a predecessor, commtask_op_attach, commtask_op_comm_dup, commtask_op_plan, and callbacks that can be called once
 *  (COMMTASK_CALLBACK_RELAYS: COMM_TASK, nodes of oneTBB; COMMTASK_CALLBACK_ONCE: closures of C++ that are larger than a pointer).
 *  The recording goes on after a refusal. A datatype that the program has made may be freed when the post has returned, which waits for
 *  the worker to duplicate it (ERR_WORKER_THREAD in a function that MPI calls); reductions and their datatypes must stay until the plan
 *  is released. Of a datatype with attributes the worker calls the program's copy functions; where one refuses, so does the post, with
 *  ERR_TYPE. What a recording that is still open at commtask_finalize has duplicated is freed there, and the recording dropped.
 *  @return COMMTASK_OK; ERR_ARGUMENT: this thread is recording already; ERR_NOT_INITIALIZED, ERR_NO_MEMORY.
 *  @threads Other threads' posts are not recorded. Waiting for a task is refused on this thread while it records. */
COMMTASK_API int commtask_record_begin(void) COMMTASK_NOEXCEPT;

/** Makes a plan of what was recorded. It may be empty.
 *  @param plan  written on success; give it back with commtask_plan_release. Null: what was recorded is dropped.
 *  @return COMMTASK_OK; ERR_ARGUMENT: this thread is not recording; ERR_TYPE, ERR_COMM or ERR_ARGUMENT: MPI cannot make a
 *          member, e.g. its datatype is not committed (the sentence has its number), and what was recorded is dropped;
 *          ERR_WORKER_THREAD: called in a function that MPI calls, and the recording goes on; ERR_NO_MEMORY.
 *  @buffers Of all members, arrays of counts and reductions with their datatypes too: they must stay until the plan is released; what
 *           is in the buffers is read or written in runs alone.
 *  @blocking Until the worker has made the persistent requests. */
COMMTASK_API int commtask_record_end(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

/** Whether the program should record its posts anew where it would start the plan, for commtask_record_check: COMMTASK_PLAN_CHECK=1
 *  is set.
 *  @return 1 or 0. */
COMMTASK_API int commtask_plan_is_checked(void) COMMTASK_NOEXCEPT;

/** Ends a recording, as commtask_record_end does, by comparing it with a plan; what was recorded is dropped. The first difference is
 *  named, on stderr too: another number of members, or a member with another operation, communicator, peer, tag, count, datatype, buffer,
 *  order or other predecessors. Buffers are the plan's next run's; lists and arrays are compared by what they held when they were recorded.
 *  @param plan  what the program is about to start.
 *  @return COMMTASK_OK: the program would post what the plan has; ERR_ARGUMENT with the difference, or: this thread is not recording,
 *          plan is null; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD as commtask_record_end. */
COMMTASK_API int commtask_record_check(commtask_plan_t plan) COMMTASK_NOEXCEPT;

/** Starts a run: posts all members as their posts would have done here, one after the other, by one entry in the worker's inbox, and
 *  one in another lane's inbox for each member of a communicator which that lane serves. What the members' order is worth against other
 *  posts is as if they had been posted singly: ordered members take their places in
 *  their communicators' orders by this call. The run's task ends when every member has. If a member fails, its successors are
 *  canceled, the others go on, and the run is FAILED with the first failure's error; the plan can be started again.
 *  commtask_post of commtask_op_plan is the same call.
 *  @param plan     one that is not running.
 *  @param options  of the run: predecessors, callback, status, COMMTASK_TRY, ...; null: none. If a predecessor fails, the members are
 *                  canceled. Not COMMTASK_ORDERED or _UNORDERED, nor a ticket: members were recorded with their order.
 *  @param task     where to put the run's handle; null: nobody will ask.
 *  @return as commtask_post; ERR_RUNNING: the last run has not ended; ERR_COMM: a communicator of a member was freed (where MPI
 *          keeps it for its persistent requests, as MPICH does, the plan goes on); ERR_NO_MEMORY.
 *  @blocking As commtask_post, but never for a new communicator. Where the worker has no core of its own, the caller makes MPI's calls itself: of all messages.
 *  @failures commtask_cancel of the run's task cancels every member that has not ended. */
COMMTASK_API int commtask_plan_start(commtask_plan_t plan, const commtask_options* options,
                                     commtask_t* task) COMMTASK_NOEXCEPT;

/** Gives a member other buffers, from the next run on; count and datatype stay. A plan that swaps between two pairs of buffers
 *  keeps the requests of both.
 *  @param plan    one that is not running.
 *  @param member  its number.
 *  @param send    what it sends; null: as it was.
 *  @param recv    where it receives, or the one buffer of an operation that has only one (bcast, sendrecv_replace); null: as it was.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT: no such member, or it has no such buffer; ERR_BUFFER, ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_rebind(commtask_plan_t plan, size_t member, const void* send,
                                      void* recv) COMMTASK_NOEXCEPT;

/** From the next run on, calls a function for each member that ends, after the member's own callback.
 *  @param plan      one that is not running.
 *  @param callback  runs on the worker, as commtask_callback; null: none.
 *  @param argument  handed to it.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT, ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_on_member(commtask_plan_t plan, commtask_member_callback callback,
                                         void* argument) COMMTASK_NOEXCEPT;

/** From the next run on, a member waits in every run for commtask_plan_pready, beside its predecessors.
 *  @param plan    one that is not running; usually this is called right after commtask_record_end.
 *  @param member  its number. A member that is deferred already stays so.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT: no such member; ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_defer(commtask_plan_t plan, size_t member) COMMTASK_NOEXCEPT;

/** Lets a deferred member go, once in every run: its buffer is filled, or may be overwritten. While the plan is not running this
 *  counts for the next run, so a compute thread need not know whether the plan was started yet.
 *  @param plan    the plan.
 *  @param member  its number.
 *  @return COMMTASK_OK; ERR_ARGUMENT: no such member, it is not deferred, or it was made ready before in this run, or canceled;
 *          ERR_NOT_INITIALIZED.
 *  @threads Any, callbacks too; not beside commtask_plan_release. What the thread wrote before is what is sent.
 *  @blocking Never. One atomic operation on the member and two on a count of the process; the last thing that a member waited for hands it to the worker, with no system call unless
 *            the worker sleeps. Where the worker has no core of its own, the caller makes MPI's call itself, as in a post.
 *  @failures After commtask_cancel of a run, a call that was meant for it counts for the next run: let compute threads come to their
 *            end before you start again. */
COMMTASK_API int commtask_plan_pready(commtask_plan_t plan, size_t member) COMMTASK_NOEXCEPT;

/** Lets partitions of a psend go: a thread has filled them, and they leave as soon as all partitions that share a message with them
 *  are filled too (64 KiB, or a 32nd of the buffer if that is more, go as one message). Each partition once in every run. While the
 *  plan is not running this counts for the next run, as in commtask_plan_pready.
 *  @param plan    the plan.
 *  @param member  the psend's number.
 *  @param first   the first of them.
 *  @param count   how many; 0 lets none go.
 *  @return COMMTASK_OK; ERR_ARGUMENT: no such member or partition, it is no psend, or some were made ready before in this run (the
 *          others are ready now); ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @threads Any, callbacks too; not beside commtask_plan_release. What the threads wrote before is what is sent.
 *  @blocking Never. Two atomic operations for each partition, and two on a count of the process; the last one of a message hands it to the worker.
 *  @failures As commtask_plan_pready. */
COMMTASK_API int commtask_plan_pready_range(commtask_plan_t plan, size_t member, int first,
                                            int count) COMMTASK_NOEXCEPT;

/** For commtask_plan_parrived: the whole member. */
#define COMMTASK_ALL_PARTITIONS (-1)

/** Asks whether a member, or one partition of it, has been received or sent in the run that was started last, as MPI_Parrived does.
 *  @param plan       the plan.
 *  @param member     its number.
 *  @param partition  of a precv or psend; COMMTASK_ALL_PARTITIONS: the whole member, of any kind.
 *  @return 1: it has ended, in whatever way (the run's task, or commtask_plan_member, says how); 0: it has not, or the plan was
 *          never started; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any; not beside a call that starts the plan again or releases it. */
COMMTASK_API int commtask_plan_parrived(commtask_plan_t plan, size_t member, int partition) COMMTASK_NOEXCEPT;

/** Gives a handle of a member in the run that was started last, or in the first run if there was none: for commtask_wait, as a
 *  predecessor of other tasks, for its own status.
 *  @param plan    the plan.
 *  @param member  its number.
 *  @param task    written on success; give it back like one of commtask_post.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any; not beside a call that starts the plan again or releases it. */
COMMTASK_API int commtask_plan_member(commtask_plan_t plan, size_t member, commtask_t* task) COMMTASK_NOEXCEPT;

/** How many members a plan has.
 *  @param plan  the plan.
 *  @return their number; 0 of COMMTASK_PLAN_NULL, and of a plan that commtask_finalize has given back. */
COMMTASK_API size_t commtask_plan_size(commtask_plan_t plan) COMMTASK_NOEXCEPT;

/** Gives a plan back. Communicators and reductions of its members may be freed after this. Tasks that depend on a member
 *  in a first run that never was are canceled. commtask_finalize gives back what is left, but for the handle: whatever else is asked of
 *  that afterwards is refused with ERR_ARGUMENT, and this function takes it at any time, also when the library does not run.
 *  @param plan  one that is not running; set to COMMTASK_PLAN_NULL. COMMTASK_PLAN_NULL is left as it is.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a function that MPI calls.
 *  @blocking Until the worker has freed the persistent requests. */
COMMTASK_API int commtask_plan_release(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
