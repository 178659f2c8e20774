/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: with COMMTASK_LANES=n a process has n workers, each of which serves communicators of its own. Which lane serves a
 * communicator is decided when the library first hears of it. MPI_COMM_WORLD and MPI_COMM_SELF are served by lane 0; the
 * others in turn by lanes 1, 2, ..., 0, in the order in which this process first uses them, unless the program says which.
 * docs/lanes.md says when a second lane pays. */
#ifndef COMMTASK_LANES_H
#define COMMTASK_LANES_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The info key that chooses the lane of a communicator: a number from 0; or `thread`, as COMMTASK_STRIPE_BY_THREAD. Under
 *  commtask-run it is heard where the program gives it to MPI_Comm_dup_with_info, and a value that names no lane is warned of.
 *  Elsewhere it is heard when the communicator is first used, if MPI_Comm_get_info gives it back, which MPICH's does not
 *  (docs/lanes.md); with several lanes a value that names none of them is refused then. */
#define COMMTASK_LANE_KEY "commtask_lane"

/** Asks MPI for a network context for each lane, where that must be said before MPI_Init (MPICH from 4.1 on). A program that sets
 *  `lanes` of commtask_config calls it before MPI_Init_thread; a user who sets COMMTASK_LANES, which counts instead of n_lanes,
 *  needs no call. Without it the lanes take turns there. It sets MPIR_CVAR_CH4_NUM_VCIS in the environment, unless that is set or
 *  the MPI would abort on it.
 *  @param n_lanes  what `lanes` of commtask_config will say.
 *  @return COMMTASK_OK, also where the MPI needs nothing; ERR_MPI_STATE if MPI is initialised already; ERR_NO_MEMORY.
 *  @threads Before other threads look at the environment. */
COMMTASK_API int commtask_lanes_prepare(int n_lanes) COMMTASK_NOEXCEPT;

/** Makes duplicates of a communicator, the first on lane 0, the second on lane 1, and so on: the same on every rank. Threads
 *  that each use one of their own do not wait for each other's messages.
 *  @param comm     the communicator; no intercommunicator.
 *  @param n_comms  how many: from 1 to the number of lanes, and the same on all ranks of comm.
 *  @param comms    room for n_comms communicators; the program frees them by MPI_Comm_free.
 *  @return COMMTASK_OK; ERR_ARGUMENT if n_comms is wrong here, or elsewhere, or differs among the ranks, or if comms is null: all
 *          ranks are refused then; ERR_COMM; FAILED if MPI could not duplicate comm; ERR_WORKER_THREAD, ERR_NOT_INITIALIZED.
 *  @blocking It is collective over comm.
 *  @failures What MPI had made before it failed is MPI's to free, in MPI_Finalize. */
COMMTASK_API int commtask_comm_split_lanes(MPI_Comm comm, int n_comms, MPI_Comm* comms) COMMTASK_NOEXCEPT;

/** Says which lane serves a communicator, before its first task. Each rank says it for itself.
 *  @param comm  a communicator that the library has not heard of, or that is on this lane already.
 *  @param lane  from 0 to the number of lanes less one.
 *  @return COMMTASK_OK; ERR_ARGUMENT if there is no such lane, or comm is on another one already; ERR_COMM,
 *          ERR_WORKER_THREAD, ERR_NO_MEMORY, ERR_NOT_INITIALIZED.
 *  @blocking Until the worker of lane 0 has looked at comm once. */
COMMTASK_API int commtask_comm_set_lane(MPI_Comm comm, int lane) COMMTASK_NOEXCEPT;

/** Asks which lane serves a communicator; one that the library has not heard of gets its lane now, as by its first task.
 *  @param comm  the communicator.
 *  @param lane  written on success.
 *  @return COMMTASK_OK; ERR_COMM, ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @blocking As commtask_comm_register. */
COMMTASK_API int commtask_comm_lane(MPI_Comm comm, int* lane) COMMTASK_NOEXCEPT;

/** What chooses, message by message, among the lanes that serve one communicator. Its collectives, windows and files stay on
 *  the lane that commtask_comm_lane says. */
typedef enum commtask_striping {
    /** The thread that posts: its messages go to one lane, those of the next thread to the next. Nothing else is required, and
     *  wildcards are fine. What one thread posts stays in order; no order is kept among threads, not even of posts that happen
     *  one before the other, and a plan's messages count as those of the thread that recorded them. A communicator whose info
     *  says mpi_assert_allow_overtaking, and neither of the two below, is striped so by itself, when it is first used. */
    COMMTASK_STRIPE_BY_THREAD = 1,
    /** What sender and receiver both know: the two ranks, if the communicator's info says mpi_assert_no_any_source, and the
     *  tag, if it says mpi_assert_no_any_tag; one of the two at least. Each lane gets a duplicate that the program does not see,
     *  so that lanes use network contexts of their own. Messages that one receive could take stay in order. MPI_Comm_idup
     *  makes the duplicates, so the communicator's attributes are copied by the program's functions, and deleted when it is
     *  freed, or by commtask_finalize. */
    COMMTASK_STRIPE_BY_MESSAGE = 2
} commtask_striping;

/** Has several lanes serve the messages of one communicator, until it is freed. With one lane all stays there, and what
 *  several would refuse is refused all the same.
 *
 *  By message: an operation of several messages (sendrecv, multicast, many_to_many) is refused with COMMTASK_ERR_ARGUMENT unless
 *  all of them have the same rank and tag, as far as these are keys; so is a receive from MPI_ANY_SOURCE or of MPI_ANY_TAG that the
 *  communicator's info rules out, and commtask_listen. Messages that the program sends by MPI itself, or in a function of a
 *  start task, do not meet those of tasks.
 *  @param comm  the communicator. No message of it may be half posted: one whose receive was posted before this call, and
 *               which is sent after it, does not arrive.
 *  @param by    a commtask_striping: COMMTASK_STRIPE_BY_THREAD, or COMMTASK_STRIPE_BY_MESSAGE, which no intercommunicator can have.
 *  @return COMMTASK_OK; ERR_ARGUMENT if `by` is none, or comm is striped in the other way, or its info promises neither of
 *          what is needed, or something else than on another rank: all ranks are refused then; ERR_COMM; FAILED if MPI could not
 *          duplicate comm; ERR_NO_MEMORY, ERR_WORKER_THREAD, ERR_NOT_INITIALIZED.
 *  @threads No other thread posts a message of comm meanwhile.
 *  @blocking By message it is collective over comm. By thread it waits for the worker, and each rank says it for itself.
 *  @failures What MPI had made before it failed is MPI's to free, in MPI_Finalize. */
COMMTASK_API int commtask_comm_stripe(MPI_Comm comm, int by) COMMTASK_NOEXCEPT;

/** How many lanes are at work from now on, the first n of them. commtask_lanes_choose answers no more, and communicators whose
 *  lane nobody names get one of these. The worker of each lane beyond gives its core back to the program's threads as soon as
 *  it has nothing to do; a task for a communicator of its lane brings it back. A worker does the same by itself when it has had
 *  nothing to do for COMMTASK_LANE_IDLE_S. The core of a lane without a communicator is given back by this call, and comes back
 *  with its first communicator or a larger n. Lane 0 always keeps its core. All ranks should say the same number, or the answers
 *  of commtask_lanes_choose differ.
 *  @param n_lanes  from 1 to the number of lanes.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED.
 *  @threads Any thread, also in a callback. It changes the masks of all threads itself where a lane without a communicator has a
 *           core, which takes tens of microseconds. */
COMMTASK_API int commtask_lanes_set(int n_lanes) COMMTASK_NOEXCEPT;

/** What a burst is made of. */
typedef enum commtask_burst_kind {
    COMMTASK_BURST_MESSAGES = 0,   /**< Messages from rank to rank, each with a receive. */
    COMMTASK_BURST_PUTS = 1,       /**< Puts; other one-sided operations are judged like them. */
    COMMTASK_BURST_COLLECTIVES = 2 /**< Collectives, each on a communicator of its own: a lane serves each as a whole.
                                        One lane, unless the table of COMMTASK_LANE_TABLE has rows of collectives. */
} commtask_burst_kind;

/** Messages that a rank sends at once, for commtask_lanes_choose. Start from COMMTASK_BURST_INIT. Whoever sends and whoever
 *  receives on a communicator of several must describe the burst alike: by numbers that both know. */
typedef struct commtask_burst {
    size_t struct_size;  /**< sizeof(commtask_burst). */
    size_t size_bytes;   /**< Of one message, or of a collective's message to one rank; of several sizes their mean. */
    size_t n_messages;   /**< How many, at least 1. */
    int kind;            /**< A commtask_burst_kind. */
    unsigned most_lanes; /**< 0: as many as have cores of their own; n: up to n, whether they have cores or not. */
} commtask_burst;

/** How to spread a burst. Start from COMMTASK_LANE_CHOICE_INIT. */
typedef struct commtask_lane_choice {
    size_t struct_size; /**< sizeof(commtask_lane_choice). */
    unsigned n_lanes;   /**< Lanes 0 to n_lanes - 1 serve it; 1: it does not pay to spread it. */
    unsigned in_row;    /**< Messages in a row that go to one lane: commtask_lane_of_message does that. */
    unsigned
        in_flight; /**< More messages than these at once bring a lane nothing. The library does not hold any back: which
                             may wait for which, only the program knows. */
} commtask_lane_choice;

/** Starts of the two structs, with their sizes set. */
#define COMMTASK_BURST_INIT COMMTASK_INIT_(commtask_burst)
#define COMMTASK_LANE_CHOICE_INIT COMMTASK_INIT_(commtask_lane_choice)

/** How many of the process's lanes should serve a burst of messages: a function of the burst and of the saturation table alone,
 *  which comes from COMMTASK_LANE_TABLE (commtask-info --calibrate writes one), else from the library. All ranks have the same
 *  table and the same number of lanes, so the same burst gets the same answer everywhere. Without a table of
 *  COMMTASK_LANE_TABLE the answer is one lane where the MPI lets lanes take turns; with one it is what the table says, whatever
 *  machine that was measured on, and rank 0 warns of one that was measured with another MPI.
 *  @param burst   what is to be sent.
 *  @param choice  written on success: never fewer lanes than one, nor more than there are.
 *  @return COMMTASK_OK; ERR_ARGUMENT if a pointer is null, a size is not set, n_messages is 0 or kind is none;
 *          ERR_NOT_INITIALIZED. */
COMMTASK_API int commtask_lanes_choose(const commtask_burst* burst, commtask_lane_choice* choice) COMMTASK_NOEXCEPT;

/** Which lane a message of the burst goes to: in_row to lane 0, in_row to lane 1, and so on in turns.
 *  @param choice   of commtask_lanes_choose.
 *  @param message  its number in the burst, from 0.
 *  @return the lane, which is the index of the communicator that commtask_comm_split_lanes gave. */
static inline unsigned commtask_lane_of_message(const commtask_lane_choice* choice, size_t message) {
    return (unsigned)((message / choice->in_row) % choice->n_lanes);
}

#ifdef __cplusplus
}
#endif
#endif
