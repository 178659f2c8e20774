/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: operations that are recorded once and then started any number of times, each time by one
 * call. Members are MPI persistent requests where MPI has them. On a worker with a reserved core,
 * starting a plan of 16 messages costs the calling thread less than two calls of commtask_post.
 *
 * Terms: the recorded operations are the *members* of the plan, numbered from 0 in the order of
 * their posts. One start of the plan is a *run*, which has one task. A *deferred* member waits in
 * every run until a thread marks its buffer ready. docs/plans.md has examples. */
#ifndef COMMTASK_PLAN_H
#define COMMTASK_PLAN_H

#include <commtask/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts a recording: until commtask_record_end on the same thread, this thread's posts are
 *  recorded as members and not started. A post checks its arguments as usual. The returned handle
 *  refers to the member in the plan's first run. The callback and the status pointer in the options
 *  are used in every run, so the status must stay valid. A second psend or precv with the same peer
 *  and tag returns ERR_TAG. ERR_ARGUMENT is returned, and the recording continues, for:
 *  - predecessors that are not members of this recording: events, tickets, other tasks;
 *  - commtask_op_attach, commtask_op_comm_dup, commtask_op_plan;
 *  - COMMTASK_CALLBACK_RELAYS and COMMTASK_CALLBACK_ONCE, which COMM_TASK, nodes of oneTBB and C++
 *    closures larger than a pointer use.
 *  @return COMMTASK_OK; ERR_ARGUMENT: this thread is recording already; ERR_NOT_INITIALIZED,
 *          ERR_NO_MEMORY.
 *  @buffers Datatypes may be freed after the post, which waits until the worker has duplicated
 *           them. Reductions and their datatypes must stay valid until the plan is released.
 *  @threads Posts of other threads are not recorded. This thread cannot wait for a task while it
 *           records. Inside an MPI callback (attribute function, error handler, reduction), a post
 *           with a derived datatype returns ERR_WORKER_THREAD. */
COMMTASK_API int commtask_record_begin(void) COMMTASK_NOEXCEPT;

/** Ends the recording of this thread and creates a plan from it. The plan may be empty.
 *  @param plan  written on success; release it with commtask_plan_release. Null: the recording is
 *               dropped.
 *  @return COMMTASK_OK; ERR_ARGUMENT: this thread is not recording; ERR_TYPE, ERR_COMM or
 *          ERR_ARGUMENT: MPI rejects a member, for example because its datatype is not committed.
 *          commtask_last_error() names the member; the recording is dropped. ERR_WORKER_THREAD:
 *          called inside an MPI callback; the recording continues. ERR_NO_MEMORY.
 *  @buffers Buffers of all members and arrays of counts must stay valid until the plan is released.
 *           Their contents are read or written only in runs.
 *  @blocking Until the worker has created the persistent requests. */
COMMTASK_API int commtask_record_end(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

/** Tells whether COMMTASK_PLAN_CHECK=1 is set. If so, the program should record the same posts
 *  again before each start, and pass the plan to commtask_record_check.
 *  @return 1 or 0. */
COMMTASK_API int commtask_plan_is_checked(void) COMMTASK_NOEXCEPT;

/** Ends a recording, compares it with a plan, and drops it. The first difference is printed on
 *  stderr and returned by commtask_last_error().
 *  Compared are the number of members and, for each member, its operation, communicator, peer, tag,
 *  count, datatype, buffer, order and predecessors. Buffers are compared with those that the plan's
 *  next run will use, lists by their contents at the time of recording.
 *  @param plan  the plan that the program is about to start.
 *  @return COMMTASK_OK: the recording equals the plan; ERR_ARGUMENT: it differs, this thread is not
 *          recording, or `plan` is null; ERR_NOT_INITIALIZED; ERR_WORKER_THREAD as
 *          commtask_record_end. */
COMMTASK_API int commtask_record_check(commtask_plan_t plan) COMMTASK_NOEXCEPT;

/** Starts a run, as if all members were posted here in the order of recording.
 *  The run's task ends when every member has ended. If a member fails, its successors are canceled
 *  and the other members continue. The run's task then has state COMMTASK_FAILED and the error of
 *  the first failed member; the plan can be started again.
 *  @param plan  a plan that is not running.
 *  @param options  options of the run: predecessors, callback, status, COMMTASK_TRY, ...; null:
 *                  none. If a predecessor fails, the members are canceled. COMMTASK_ORDERED,
 *                  COMMTASK_UNORDERED and tickets are not allowed.
 *  @param task  receives the handle of the run; null: no handle.
 *  @return as commtask_post_operation; ERR_RUNNING: the last run has not ended; ERR_NO_MEMORY;
 *          ERR_COMM: a member's communicator was freed. (MPICH keeps a freed communicator while
 *          persistent requests use it; then no error is returned.)
 *  @blocking As commtask_post_operation, but no communicator has to be registered. If the worker
 *            shares its core, the calling thread starts all members in MPI.
 *  @failures commtask_cancel of the run's task cancels every member that has not ended. */
COMMTASK_API int commtask_plan_start(commtask_plan_t plan, const commtask_options* options,
                                     commtask_t* task) COMMTASK_NOEXCEPT;

/** Replaces a member's buffers, effective with the next run. Count and datatype do not change. A
 *  plan that alternates between two pairs of buffers keeps the MPI requests of both pairs.
 *  @param plan  a plan that is not running.
 *  @param member  number of the member.
 *  @param send  the new send buffer; null: unchanged.
 *  @param recv  the new receive buffer, or the only buffer of an operation (bcast,
 *               sendrecv_replace); null: unchanged.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT: no such member, or it has no such buffer;
 *          ERR_BUFFER, ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_rebind(commtask_plan_t plan, size_t member, const void* send,
                                      void* recv) COMMTASK_NOEXCEPT;

/** Sets a function that is called for each member that ends, after the member's own callback,
 *  effective with the next run.
 *  @param plan  a plan that is not running.
 *  @param callback  called on the worker, as commtask_callback; null: none.
 *  @param argument  argument of the callback.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT, ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_on_member(commtask_plan_t plan, commtask_member_callback callback,
                                         void* argument) COMMTASK_NOEXCEPT;

/** Defers a member: effective with the next run, the member waits in every run for
 *  commtask_plan_pready, in addition to its predecessors. Deferring cannot be undone.
 *  @param plan  a plan that is not running; usually just made by commtask_record_end.
 *  @param member  number of the member.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT: no such member, or it is a psend or precv;
 *          ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_plan_defer(commtask_plan_t plan, size_t member) COMMTASK_NOEXCEPT;

/** Marks a deferred member ready, as MPI_Pready does: its buffer is filled, or may be overwritten.
 *  Call it once for each run. Between runs, the call applies to the next run.
 *  @param plan  the plan.
 *  @param member  number of the member.
 *  @return COMMTASK_OK; ERR_ARGUMENT: no such member, or the member is not deferred, was canceled,
 *          or was marked ready before in this run; ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @threads Any, also in callbacks, but not at the same time as commtask_plan_release. The message
 *           contains what the calling thread wrote before the call.
 *  @blocking Never. Cost: one atomic operation on the member and two on a process-wide counter. If
 *            the worker shares its core, the caller starts the member in MPI, as in a post.
 *  @failures After commtask_cancel of a run, wait for compute threads before the next start: a late
 *            call would mark the member ready in the next run. */
COMMTASK_API int commtask_plan_pready(commtask_plan_t plan, size_t member) COMMTASK_NOEXCEPT;

/** Marks partitions of a psend ready, as MPI_Pready_range does. Call it once for each partition and
 *  run; between runs, the call applies to the next run.
 *  The buffer is sent as at most 32 messages of about equal size, of at least 64 KiB unless the
 *  buffer is smaller. Each message is sent when all partitions that overlap it are ready.
 *  @param plan  the plan.
 *  @param member  number of the psend.
 *  @param first  the first partition.
 *  @param count  number of partitions; 0 marks none.
 *  @return COMMTASK_OK; ERR_NO_MEMORY, ERR_NOT_INITIALIZED; ERR_ARGUMENT: no such member or
 *          partition, the member is no psend, or some partitions were marked ready before in this
 *          run. In the last case the other partitions of the call are ready now.
 *  @threads As commtask_plan_pready.
 *  @blocking Never. Cost: one atomic operation for each partition and for each message that it
 *            overlaps, and two on a process-wide counter.
 *  @failures As commtask_plan_pready. */
COMMTASK_API int commtask_plan_pready_range(commtask_plan_t plan, size_t member, int first,
                                            int count) COMMTASK_NOEXCEPT;

/** Partition argument of commtask_plan_parrived for the whole member. */
#define COMMTASK_ALL_PARTITIONS (-1)

/** Tests whether a member or a partition has ended in the last run, as MPI_Parrived does. If the
 *  worker shares its core, the call also makes progress, so callbacks may run in it.
 *  @param plan  the plan.
 *  @param member  number of the member.
 *  @param partition  a partition of a precv or psend; COMMTASK_ALL_PARTITIONS: the whole member, of
 *                    any kind.
 *  @return 1: it has ended, whatever its state. 0: it has not ended, or the plan was never started.
 *          ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any, but not at the same time as a call that starts the plan again or releases it. */
COMMTASK_API int commtask_plan_parrived(commtask_plan_t plan, size_t member, int partition) COMMTASK_NOEXCEPT;

/** Returns a handle of a member in the last run, or in the first run if the plan was never started.
 *  A program can wait for the handle, or use it as a predecessor of other tasks.
 *  @param plan  the plan.
 *  @param member  number of the member.
 *  @param task  written on success; release it like a handle of commtask_post.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any, but not at the same time as a call that starts the plan again or releases it. */
COMMTASK_API int commtask_plan_member(commtask_plan_t plan, size_t member, commtask_t* task) COMMTASK_NOEXCEPT;

/** Returns the number of members of a plan.
 *  @param plan  the plan.
 *  @return the number; 0 for COMMTASK_PLAN_NULL and after commtask_finalize. */
COMMTASK_API size_t commtask_plan_size(commtask_plan_t plan) COMMTASK_NOEXCEPT;

/** Releases a plan. Communicators and reductions of its members may be freed then. If the plan was
 *  never started, tasks that depend on a member of its first run are canceled.
 *  commtask_finalize releases all plans; their handles remain valid only for commtask_plan_release,
 *  which may be called at any later time.
 *  @param plan  a plan that is not running; set to COMMTASK_PLAN_NULL. COMMTASK_PLAN_NULL has no
 *               effect.
 *  @return COMMTASK_OK; ERR_RUNNING; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called
 *          inside an MPI callback.
 *  @blocking Until the worker has freed the persistent requests. */
COMMTASK_API int commtask_plan_release(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
