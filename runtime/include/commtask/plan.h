/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: operations that are recorded once and then started any number of times, each time by
 * one call. If the worker has a core of its own, a halo exchange of sixteen messages costs its
 * submitter less than two posts. MPI gets persistent requests.
 *
 * Terms: the recorded operations are the *members* of the plan, numbered from 0 in the order of
 * their posts. One start of the plan is a *run*; one task stands for the run. A *deferred*
 * member waits in every run until a thread says that its buffer is ready. docs/plans.md has a
 * halo exchange for each front end. Threads are as in commtask.h: any thread may call any
 * function, unless the function says otherwise. */
#ifndef COMMTASK_PLAN_H
#define COMMTASK_PLAN_H

#include <commtask/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts a recording: until commtask_record_end on the same thread, posts of this thread are
 *  recorded and not started. commtask_post checks its arguments as always. The handle that it
 *  returns stands for the member in the plan's first run, and is given back like any other handle.
 *  Callback and status of the options are used in every run.
 *  A post that cannot be repeated is refused with ERR_ARGUMENT, and the recording goes on:
 *  predecessors that are not members of this recording (events, tickets, other tasks),
 *  commtask_op_attach, commtask_op_comm_dup, commtask_op_plan, and callbacks that can be called
 *  only once (COMMTASK_CALLBACK_RELAYS, COMMTASK_CALLBACK_ONCE). So COMM_TASK, nodes of oneTBB, and
 *  C++ closures larger than a pointer cannot be recorded.
 *  A datatype of the program may be freed when the post has returned: the post waits until the
 *  worker has duplicated it. If a copy function of its attributes fails, the post is refused with
 *  ERR_TYPE. In a function that MPI calls, a post with such a datatype is refused with
 *  ERR_WORKER_THREAD. Reductions and their datatypes must stay until the plan is released.
 *  commtask_finalize drops a recording that is still open and frees its duplicates.
 *  @return COMMTASK_OK; ERR_ARGUMENT: this thread is recording already; ERR_NOT_INITIALIZED,
 *          ERR_NO_MEMORY.
 *  @threads Posts of other threads are not recorded. This thread cannot wait for a task while it
 *           records. */
COMMTASK_API int commtask_record_begin(void) COMMTASK_NOEXCEPT;

/** Ends the recording of this thread and makes a plan of it. The plan may be empty.
 *  @param plan  written on success; give it back with commtask_plan_release. Null: the recording is
 *               dropped.
 *  @return COMMTASK_OK; ERR_ARGUMENT: this thread is not recording; ERR_TYPE, ERR_COMM or
 *          ERR_ARGUMENT: MPI cannot make a member, e.g. its datatype is not committed. The sentence
 *          has the number of the member, and the recording is dropped. ERR_WORKER_THREAD: called in
 *          a function that MPI calls, and the recording goes on; ERR_NO_MEMORY.
 *  @buffers Buffers of all members, arrays of counts, and reductions with their datatypes must stay
 *           until the plan is released. The contents of the buffers are read or written only in
 *           runs.
 *  @blocking Until the worker has made the persistent requests. */
COMMTASK_API int commtask_record_end(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

/** Tells whether COMMTASK_PLAN_CHECK=1 is set. Then the program should record its posts again
 *  before each start of the plan, for commtask_record_check.
 *  @return 1 or 0. */
COMMTASK_API int commtask_plan_is_checked(void) COMMTASK_NOEXCEPT;

/** Ends a recording by comparing it with a plan, and drops the recording. The first difference is
 *  in the sentence of the error, and on stderr: another number of members, or a member with another
 *  operation, communicator, peer, tag, count, datatype, buffer, order or other predecessors. The
 *  buffers to compare with are the buffers of the plan's next run. Lists and arrays are compared by
 *  their contents at the time of recording.
 *  @param plan  the plan that the program is about to start.
 *  @return COMMTASK_OK: the recording equals the plan; ERR_ARGUMENT: it differs, this thread is
 *          not recording, or `plan` is null; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD as
 *          commtask_record_end. */
COMMTASK_API int commtask_record_check(commtask_plan_t plan) COMMTASK_NOEXCEPT;

/** Starts a run, as if all members were posted here in the order of recording. The start is one
 *  entry in the worker's queue of posts. With several lanes, each member of another lane is an
 *  entry in that lane's queue. Ordered members take their places in the orders of their
 *  communicators by this call. The run's task ends when every member has ended. If a member fails,
 *  its successors are canceled and the other members go on. The run is then FAILED with the error
 *  of the first failure; the plan can be started again. commtask_post of commtask_op_plan is the
 *  same call.
 *  @param plan  a plan that is not running.
 *  @param options  of the run: predecessors, callback, status, COMMTASK_TRY, ...; null: none. If a
 *                  predecessor fails, the members are canceled. COMMTASK_ORDERED,
 *                  COMMTASK_UNORDERED and tickets are not allowed: members were recorded with their
 *                  order.
 *  @param task  receives the handle of the run; null: no handle.
 *  @return as commtask_post; ERR_RUNNING: the last run has not ended; ERR_COMM: a communicator of a
 *          member was freed. If MPI keeps that communicator for its persistent requests, as MPICH
 *          does, the plan still works. ERR_NO_MEMORY.
 *  @blocking As commtask_post, but never for a new communicator. If the worker has no core of its
 *            own, the caller makes MPI's calls for all messages itself.
 *  @failures commtask_cancel of the run's task cancels every member that has not ended. */
COMMTASK_API int commtask_plan_start(commtask_plan_t plan, const commtask_options* options,
                                     commtask_t* task) COMMTASK_NOEXCEPT;

/** Gives a member other buffers from the next run on; count and datatype stay. If a plan alternates
 *  between two pairs of buffers, it keeps MPI's requests of both pairs.
 *  @param plan  a plan that is not running.
 *  @param member  number of the member.
 *  @param send  the new send buffer; null: unchanged.
 *  @param recv  the new receive buffer, or the only buffer of an operation (bcast,
 *               sendrecv_replace); null: unchanged.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT: no such member, or it has no such buffer;
 *          ERR_BUFFER, ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_rebind(commtask_plan_t plan, size_t member, const void* send,
                                      void* recv) COMMTASK_NOEXCEPT;

/** Sets a function that is called, from the next run on, for each member that ends, after the
 *  member's own callback.
 *  @param plan  a plan that is not running.
 *  @param callback  runs on the worker, as commtask_callback; null: none.
 *  @param argument  argument of the callback.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT, ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_on_member(commtask_plan_t plan, commtask_member_callback callback,
                                         void* argument) COMMTASK_NOEXCEPT;

/** Defers a member: from the next run on it waits in every run for commtask_plan_pready, besides
 *  its predecessors.
 *  @param plan  a plan that is not running; usually this function is called right after
 *               commtask_record_end.
 *  @param member  number of the member. A deferred member stays deferred.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT: no such member, or it is a psend or
 *          precv; ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_defer(commtask_plan_t plan, size_t member) COMMTASK_NOEXCEPT;

/** Marks a deferred member ready, as MPI_Pready does: its buffer is filled, or may be overwritten.
 *  Call it once for each run. While the plan is not running, the call counts for the next run, so a
 *  compute thread need not know whether the plan was started.
 *  @param plan  the plan.
 *  @param member  number of the member.
 *  @return COMMTASK_OK; ERR_ARGUMENT: no such member, it is not deferred, it was canceled, or it
 *          was made ready before in this run; ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @threads Any, also in callbacks, but not at the same time as commtask_plan_release. Data that
 *           the thread has written before the call are sent.
 *  @blocking Never. It costs one atomic operation on the member and two on a counter of the
 *            process. If the member waits for nothing else, the call hands it to the worker,
 *            without a system call unless the worker sleeps. If the worker has no core of its own,
 *            the caller makes MPI's call itself, as in a post.
 *  @failures After commtask_cancel of a run, a late call that was meant for that run counts for
 *            the next run. Before you start again, let compute threads finish. */
COMMTASK_API int commtask_plan_pready(commtask_plan_t plan, size_t member) COMMTASK_NOEXCEPT;

/** Marks partitions of a psend ready, as MPI_Pready_range does: a thread has filled them. A
 *  partition is sent when all partitions of the same message are ready. The buffer is sent as
 *  at most 32 messages of about equal size, of 64 KiB or more each. Call it once for each partition and run. While the plan is
 *  not running, the call counts for the next run.
 *  @param plan  the plan.
 *  @param member  number of the psend.
 *  @param first  the first partition.
 *  @param count  number of partitions; 0 marks none.
 *  @return COMMTASK_OK; ERR_ARGUMENT: no such member or partition, the member is no psend, or some
 *          partitions were made ready before in this run (the other partitions of the call are
 *          ready now); ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @threads Any, also in callbacks, but not at the same time as commtask_plan_release. Data that
 *           the threads have written before their calls are sent.
 *  @blocking Never. It costs one atomic operation for each partition, one for each message that the
 *            partition overlaps, and two on a counter of the process. The call for the last partition of a message hands the message to the worker.
 *  @failures As commtask_plan_pready. */
COMMTASK_API int commtask_plan_pready_range(commtask_plan_t plan, size_t member, int first,
                                            int count) COMMTASK_NOEXCEPT;

/** Partition argument of commtask_plan_parrived for the whole member. */
#define COMMTASK_ALL_PARTITIONS (-1)

/** Tests whether a member, or one partition of it, was received or sent in the run that was started
 *  last, as MPI_Parrived does.
 *  @param plan  the plan.
 *  @param member  number of the member.
 *  @param partition  a partition of a precv or psend; COMMTASK_ALL_PARTITIONS: the whole member, of
 *                    any kind.
 *  @return 1: it has ended, completed or not (the run's task or commtask_plan_member has the
 *          status); 0: it has not ended, or the plan was never started; ERR_ARGUMENT,
 *          ERR_NOT_INITIALIZED.
 *  @threads Any, but not at the same time as a call that starts the plan again or releases it. */
COMMTASK_API int commtask_plan_parrived(commtask_plan_t plan, size_t member, int partition) COMMTASK_NOEXCEPT;

/** Returns a handle of a member in the run that was started last, or in the first run if there was
 *  none. The handle can be waited for and be a predecessor of other tasks.
 *  @param plan  the plan.
 *  @param member  number of the member.
 *  @param task  written on success; give it back like a handle of commtask_post.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any, but not at the same time as a call that starts the plan again or releases it. */
COMMTASK_API int commtask_plan_member(commtask_plan_t plan, size_t member, commtask_t* task) COMMTASK_NOEXCEPT;

/** Returns the number of members of a plan.
 *  @param plan  the plan.
 *  @return the number; 0 for COMMTASK_PLAN_NULL, and for a plan that commtask_finalize has given
 *          back. */
COMMTASK_API size_t commtask_plan_size(commtask_plan_t plan) COMMTASK_NOEXCEPT;

/** Releases a plan. Then communicators and reductions of its members may be freed. If the plan was
 *  never started, tasks that depend on a member of its first run are canceled. commtask_finalize
 *  releases all plans, but not their handles. Afterwards only this function takes such a handle, at
 *  any time, even if the library is not initialised; other functions refuse it with ERR_ARGUMENT.
 *  @param plan  a plan that is not running; set to COMMTASK_PLAN_NULL. COMMTASK_PLAN_NULL has no
 *               effect.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called
 *          in a function that MPI calls.
 *  @blocking Until the worker has freed the persistent requests. */
COMMTASK_API int commtask_plan_release(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
