/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: with COMMTASK_LANES=n a process has n lanes. A lane is one worker with its queues, and
 * serves a set of communicators (MPICH calls the network side of a lane a VCI). Lane 0 serves
 * MPI_COMM_WORLD and MPI_COMM_SELF. Unless the program chooses a lane, other communicators get
 * lanes 1, 2, ..., n-1, 0, 1, ... in the order of their first use in this process. docs/lanes.md
 * describes programs that gain from several lanes. */
#ifndef COMMTASK_LANES_H
#define COMMTASK_LANES_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The info key that chooses the lane of a communicator. Its value is the number of a lane, or
 *  `thread` for COMMTASK_STRIPE_BY_THREAD. docs/lanes.md lists the MPIs that support the key. */
#define COMMTASK_LANE_KEY "commtask_lane"

/** Makes MPI create a network context for each lane, if the MPI must know their number before
 *  MPI_Init (MPICH since 4.1). Call it before MPI_Init_thread if the program sets `lanes` of
 *  commtask_config; otherwise such an MPI serializes the lanes. With COMMTASK_LANES no call is
 *  needed. The function sets MPIR_CVAR_CH4_NUM_VCIS in the environment, unless it is set or the MPI
 *  would abort on it.
 *  @param n_lanes  the later value of `lanes` in commtask_config; COMMTASK_LANES overrides it.
 *  @return COMMTASK_OK, also if the MPI needs no call; ERR_MPI_STATE: MPI is initialised already;
 *          ERR_NO_MEMORY.
 *  @threads No other thread may read the environment meanwhile. */
COMMTASK_API int commtask_lanes_prepare(int n_lanes) COMMTASK_NOEXCEPT;

/** Duplicates a communicator n_comms times: the first duplicate is on lane 0, the second on lane 1,
 *  and so on, on every rank. Threads that use different duplicates do not wait for each other's
 *  messages.
 *  @param comm  the communicator; no intercommunicator.
 *  @param n_comms  from 1 to the number of lanes, and the same on all ranks of `comm`.
 *  @param comms  array of n_comms communicators; the program frees them by MPI_Comm_free.
 *  @return COMMTASK_OK; ERR_ARGUMENT, on all ranks: n_comms is wrong on a rank or differs among the
 *          ranks, or `comms` is null; ERR_COMM; FAILED: MPI could not duplicate `comm`;
 *          ERR_WORKER_THREAD, ERR_NOT_INITIALIZED.
 *  @blocking Collective over `comm`.
 *  @failures Duplicates that MPI made before it failed stay until MPI_Finalize. */
COMMTASK_API int commtask_comm_split_lanes(MPI_Comm comm, int n_comms, MPI_Comm* comms) COMMTASK_NOEXCEPT;

/** Chooses the lane of a communicator before its first task. Each rank chooses for itself.
 *  @param comm  a communicator that the library does not know yet, or that is on this lane already.
 *  @param lane  from 0 to the number of lanes less one.
 *  @return COMMTASK_OK; ERR_ARGUMENT: there is no such lane, or `comm` is on another lane already;
 *          ERR_COMM, ERR_WORKER_THREAD, ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @blocking Until the worker of lane 0 has registered `comm`. */
COMMTASK_API int commtask_comm_set_lane(MPI_Comm comm, int lane) COMMTASK_NOEXCEPT;

/** Returns the lane that serves a communicator. A communicator without tasks so far gets its lane
 *  now.
 *  @param comm  the communicator.
 *  @param lane  written on success.
 *  @return COMMTASK_OK; ERR_COMM, ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @blocking As commtask_comm_register. */
COMMTASK_API int commtask_comm_lane(MPI_Comm comm, int* lane) COMMTASK_NOEXCEPT;

/** How the messages of one communicator are distributed over several lanes (striping). Its
 *  collectives, windows and files stay on the lane that commtask_comm_lane returns. */
typedef enum commtask_striping {
    /** By posting thread: all messages of a thread go to one lane, messages of the next thread to
     *  the next lane. Wildcards are allowed. Messages of one thread stay in order; messages of
     *  different threads have no order. Messages of a plan count as messages of the thread that
     *  recorded it. A communicator with the info mpi_assert_allow_overtaking, and without the
     *  two keys below, is striped by thread automatically. */
    COMMTASK_STRIPE_BY_THREAD = 1,
    /** By message: the key is the (source, destination) pair if the communicator's info has
     *  mpi_assert_no_any_source, and the tag if it has mpi_assert_no_any_tag. At least one is
     *  required. Messages that one receive could match stay in order. Each lane gets a hidden
     *  duplicate of the communicator, made by MPI_Comm_idup, which calls the copy functions of
     *  the program's attributes. */
    COMMTASK_STRIPE_BY_MESSAGE = 2
} commtask_striping;

/** Stripes the messages of one communicator over several lanes, until the communicator is freed.
 *  With one lane all messages stay there, and the same posts return errors as with several lanes.
 *  With COMMTASK_STRIPE_BY_MESSAGE, ERR_ARGUMENT is returned by: an operation of several messages
 *  (sendrecv, multicast, many_to_many) whose messages differ in the key; a receive with a wildcard
 *  that the communicator's info excludes; commtask_listen. Messages that the program sends by MPI
 *  itself, or in a `start` function, do not match messages of tasks.
 *  @param comm  the communicator. Call it when no message of `comm` has only one of send and
 *               receive posted: such a message is not received.
 *  @param by  a commtask_striping; COMMTASK_STRIPE_BY_MESSAGE excludes intercommunicators.
 *  @return COMMTASK_OK; ERR_ARGUMENT, on all ranks: `by` has another value, `comm` is striped in
 *          the other way, or its info has neither key or differs among the ranks; ERR_COMM; FAILED:
 *          MPI could not duplicate `comm`; ERR_NO_MEMORY, ERR_WORKER_THREAD, ERR_NOT_INITIALIZED.
 *  @threads No other thread posts a message of `comm` meanwhile.
 *  @blocking By message the call is collective over `comm`. By thread it waits for the worker.
 *  @failures Duplicates that MPI made before it failed stay until MPI_Finalize. */
COMMTASK_API int commtask_comm_stripe(MPI_Comm comm, int by) COMMTASK_NOEXCEPT;

/** Sets the number of active lanes: the first n_lanes lanes. commtask_lanes_choose returns at most
 *  n_lanes, and new communicators get one of these lanes unless the program chooses a lane.
 *  An inactive lane lends its core to the program's threads when it has no work, and takes the core
 *  back for a task of its communicators. (An active lane does the same after COMMTASK_LANE_IDLE_S
 *  without work.) Lane 0 keeps its core. All ranks should set the same number, or
 *  commtask_lanes_choose returns different numbers.
 *  @param n_lanes  from 1 to the number of lanes.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any thread, also in a callback. If a lane without a communicator has a core, the call
 *           changes the CPU masks of all threads, which takes tens of microseconds. */
COMMTASK_API int commtask_lanes_set(int n_lanes) COMMTASK_NOEXCEPT;

/** Kind of the operations in a burst. */
typedef enum commtask_burst_kind {
    COMMTASK_BURST_MESSAGES = 0,   /**< Point-to-point messages, each with a receive. */
    COMMTASK_BURST_PUTS = 1,       /**< Puts; use it for other one-sided operations, too. */
    COMMTASK_BURST_COLLECTIVES = 2 /**< Collectives, each on its own communicator. The result is one lane
                                        unless COMMTASK_LANE_TABLE has rows of collectives. */
} commtask_burst_kind;

/** A burst: messages that a rank sends at once, for commtask_lanes_choose. Start from
 *  COMMTASK_BURST_INIT. If the result selects among several communicators, sender and
 *  receiver must give the same values. */
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

/** Returns how many lanes should serve a burst. The result depends only on the burst, the number of
 *  lanes and the saturation table, so all ranks get the same result for the same burst. The table
 *  is COMMTASK_LANE_TABLE, which commtask-info --calibrate writes, or else a built-in table. The
 *  built-in table is not used if the MPI serializes lanes; the result is then one lane. Rank 0
 *  prints a warning if COMMTASK_LANE_TABLE was measured with another MPI.
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
