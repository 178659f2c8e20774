/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: with COMMTASK_LANES=n a process has n lanes, each of them a worker with its queues,
 * which serves communicators of its own. Lane 0 serves MPI_COMM_WORLD and MPI_COMM_SELF. Unless
 * the program chooses a lane, other communicators get lanes 1, 2, ..., 0 in turn, in the order
 * in which this process first uses them. docs/lanes.md says when a second lane pays. */
#ifndef COMMTASK_LANES_H
#define COMMTASK_LANES_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The info key that chooses the lane of a communicator. Its value is a number from 0, or `thread`
 *  for COMMTASK_STRIPE_BY_THREAD.
 *  Under commtask-run the key is read when the program gives it to MPI_Comm_dup_with_info; a
 *  value that names no lane causes a warning. Otherwise the key is read when the communicator is
 *  first used, if MPI_Comm_get_info returns it, which MPICH's does not (docs/lanes.md). Then,
 *  with several lanes, a value that names no lane is refused. */
#define COMMTASK_LANE_KEY "commtask_lane"

/** Requests a network context of MPI for each lane, if MPI must be told before MPI_Init (MPICH
 *  since 4.1). A program that sets `lanes` of commtask_config calls this function before
 *  MPI_Init_thread; otherwise the lanes of such an MPI take turns. With COMMTASK_LANES, which
 *  overrides n_lanes, no call is needed. The function sets MPIR_CVAR_CH4_NUM_VCIS in the
 *  environment, unless it is set or the MPI would abort on it.
 *  @param n_lanes  the later value of `lanes` in commtask_config.
 *  @return COMMTASK_OK, also if the MPI needs no call; ERR_MPI_STATE: MPI is initialised already;
 *          ERR_NO_MEMORY.
 *  @threads No other thread may read the environment meanwhile. */
COMMTASK_API int commtask_lanes_prepare(int n_lanes) COMMTASK_NOEXCEPT;

/** Duplicates a communicator n_comms times, with the first duplicate on lane 0, the second on lane
 *  1, and so on, the same on every rank. Threads that use different duplicates do not wait for each
 *  other's messages.
 *  @param comm  the communicator; no intercommunicator.
 *  @param n_comms  from 1 to the number of lanes, and the same on all ranks of `comm`.
 *  @param comms  array of n_comms communicators; the program frees them by MPI_Comm_free.
 *  @return COMMTASK_OK; ERR_ARGUMENT: n_comms is wrong on a rank or differs among the ranks, or
 *          `comms` is null; then all ranks are refused. ERR_COMM; FAILED: MPI could not duplicate
 *          `comm`; ERR_WORKER_THREAD, ERR_NOT_INITIALIZED.
 *  @blocking It is collective over `comm`.
 *  @failures Duplicates that MPI made before it failed stay until MPI_Finalize. */
COMMTASK_API int commtask_comm_split_lanes(MPI_Comm comm, int n_comms, MPI_Comm* comms) COMMTASK_NOEXCEPT;

/** Chooses the lane of a communicator before its first task. Each rank chooses for itself.
 *  @param comm  a communicator that the library does not know yet, or that is on this lane already.
 *  @param lane  from 0 to the number of lanes less one.
 *  @return COMMTASK_OK; ERR_ARGUMENT: there is no such lane, or `comm` is on another lane already;
 *          ERR_COMM, ERR_WORKER_THREAD, ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @blocking Until the worker of lane 0 has registered `comm`. */
COMMTASK_API int commtask_comm_set_lane(MPI_Comm comm, int lane) COMMTASK_NOEXCEPT;

/** Returns the lane that serves a communicator. A communicator that is new to the library gets its
 *  lane now, as by its first task.
 *  @param comm  the communicator.
 *  @param lane  written on success.
 *  @return COMMTASK_OK; ERR_COMM, ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @blocking As commtask_comm_register. */
COMMTASK_API int commtask_comm_lane(MPI_Comm comm, int* lane) COMMTASK_NOEXCEPT;

/** How the messages of one communicator are distributed over several lanes (striping). Its
 *  collectives, windows and files stay on the lane that commtask_comm_lane returns. */
typedef enum commtask_striping {
    /** The posting thread chooses: all messages of a thread go to one lane, and messages of the
     *  next thread to the next lane. It has no requirements, and wildcards are allowed. The
     *  posts of one thread stay in order. Posts of different threads have no order, even if one
     *  post happens before the other. Messages of a plan count as messages of the thread that
     *  recorded it. A communicator with the info mpi_assert_allow_overtaking, and without the
     *  two keys below, is striped by thread when it is first used. */
    COMMTASK_STRIPE_BY_THREAD = 1,
    /** A key that sender and receiver both know chooses: the two ranks with the info
     *  mpi_assert_no_any_source, the tag with mpi_assert_no_any_tag. At least one of the two is
     *  required. Messages that one receive could match stay in order. Each lane gets a hidden
     *  duplicate of the communicator, so lanes use different network contexts. MPI_Comm_idup
     *  makes the duplicates: it calls the copy functions of the program's attributes. The copies
     *  are deleted when the communicator is freed, or by commtask_finalize. */
    COMMTASK_STRIPE_BY_MESSAGE = 2
} commtask_striping;

/** Stripes the messages of one communicator over several lanes, until it is freed. With one lane
 *  all messages stay there, but the same posts are refused as with several lanes.
 *  By message, these posts are refused with ERR_ARGUMENT: an operation of several messages
 *  (sendrecv, multicast, many_to_many) whose messages differ in the key, a receive with a wildcard
 *  that the communicator's info rules out, and commtask_listen. Messages that the program sends by
 *  MPI itself, or in a `start` function, do not match messages of tasks.
 *  @param comm  the communicator. No message of it may be half posted: if its receive was posted
 *               before this call and its send after it, it does not arrive.
 *  @param by  a commtask_striping. COMMTASK_STRIPE_BY_MESSAGE is not possible for an
 *             intercommunicator.
 *  @return COMMTASK_OK; ERR_ARGUMENT: `by` has another value, `comm` is striped in the other way,
 *          or its info has neither key or differs among the ranks; then all ranks are refused.
 *          ERR_COMM; FAILED: MPI could not duplicate `comm`; ERR_NO_MEMORY, ERR_WORKER_THREAD,
 *          ERR_NOT_INITIALIZED.
 *  @threads No other thread posts a message of `comm` meanwhile.
 *  @blocking By message it is collective over `comm`. By thread it waits for the worker, and each
 *            rank calls it for itself.
 *  @failures Duplicates that MPI made before it failed stay until MPI_Finalize. */
COMMTASK_API int commtask_comm_stripe(MPI_Comm comm, int by) COMMTASK_NOEXCEPT;

/** Sets how many lanes are active, the first n_lanes of them. commtask_lanes_choose returns at most
 *  n_lanes, and new communicators get one of these lanes unless the program chooses a lane.
 *  The worker of any other lane lends its core to the program's threads as soon as it has nothing
 *  to do; a task for a communicator of its lane brings it back. A worker does the same by itself
 *  after COMMTASK_LANE_IDLE_S without work. If a lane has no communicator, this call lends its
 *  core; its first communicator, or a larger n_lanes, takes the core back. Lane 0 always keeps its
 *  core. All ranks should set the same number, or commtask_lanes_choose returns different numbers.
 *  @param n_lanes  from 1 to the number of lanes.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any thread, also in a callback. If a lane without a communicator has a core, the
 *           call changes the CPU masks of all threads itself, which takes tens of microseconds. */
COMMTASK_API int commtask_lanes_set(int n_lanes) COMMTASK_NOEXCEPT;

/** Kind of the operations in a burst. */
typedef enum commtask_burst_kind {
    COMMTASK_BURST_MESSAGES = 0,   /**< Point-to-point messages, each with a receive. */
    COMMTASK_BURST_PUTS = 1,       /**< Puts; use it for other one-sided operations, too. */
    COMMTASK_BURST_COLLECTIVES = 2 /**< Collectives, each on its own communicator; one lane serves each.
                                        One lane, unless COMMTASK_LANE_TABLE has rows of collectives. */
} commtask_burst_kind;

/** A burst: messages that a rank sends at once, for commtask_lanes_choose. Start from
 *  COMMTASK_BURST_INIT. If the messages go over one of several communicators, sender and
 *  receiver must describe the burst alike, by numbers that both know. */
typedef struct commtask_burst {
    size_t struct_size;  /**< sizeof(commtask_burst). */
    size_t size_bytes;   /**< Mean size of a message; in collectives, of the message to one rank. */
    size_t n_messages;   /**< Number of messages, at least 1. */
    int kind;            /**< A commtask_burst_kind. */
    unsigned most_lanes; /**< 0: only lanes with cores of their own; n: up to n lanes, with or without cores. */
} commtask_burst;

/** Distribution of a burst over lanes. Start from COMMTASK_LANE_CHOICE_INIT. */
typedef struct commtask_lane_choice {
    size_t struct_size; /**< sizeof(commtask_lane_choice). */
    unsigned n_lanes;   /**< Use lanes 0 to n_lanes - 1; 1: several lanes do not pay. */
    unsigned in_row;    /**< Consecutive messages that go to one lane, as in commtask_lane_of_message. */
    unsigned in_flight; /**< More messages at once do not make a lane faster. The library
                        does not limit them: only the program knows which may wait. */
} commtask_lane_choice;

/** Initial values of the two structs, with their sizes set. */
#define COMMTASK_BURST_INIT COMMTASK_INIT_(commtask_burst)
#define COMMTASK_LANE_CHOICE_INIT COMMTASK_INIT_(commtask_lane_choice)

/** Returns how many lanes should serve a burst. The answer depends only on the burst and on the
 *  saturation table: COMMTASK_LANE_TABLE (written by commtask-info --calibrate), or else the
 *  library's table. All ranks have the same table and the same number of lanes, so all ranks get
 *  the same answer for the same burst. If the MPI lets lanes take turns, the library's table is not
 *  used, and the answer is one lane. A table of COMMTASK_LANE_TABLE is always used, whatever
 *  machine it was measured on. If it was measured with another MPI, rank 0 prints a warning.
 *  @param burst  the burst.
 *  @param choice  written on success: from one lane to the number of lanes.
 *  @return COMMTASK_OK; ERR_ARGUMENT: a pointer is null, a size is not set, n_messages is 0 or
 *          `kind` is wrong; ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_lanes_choose(const commtask_burst* burst, commtask_lane_choice* choice) COMMTASK_NOEXCEPT;

/** Returns the lane of a message in a burst: in_row messages go to lane 0, the next in_row to lane
 *  1, and so on in turn.
 *  @param choice  from commtask_lanes_choose.
 *  @param message  index of the message in the burst, from 0.
 *  @return the lane, which is the index of the communicator in the array of
 *          commtask_comm_split_lanes. */
static inline unsigned commtask_lane_of_message(const commtask_lane_choice* choice, size_t message) {
    return (unsigned)((message / choice->in_row) % choice->n_lanes);
}

#ifdef __cplusplus
}
#endif
#endif
