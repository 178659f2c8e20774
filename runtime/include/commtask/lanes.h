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

/** The info key by which MPI_Comm_dup_with_info and its like choose the lane of the communicator that they make: a number
 *  from 0. It is heard under commtask-run, and elsewhere if MPI_Comm_get_info gives it back, which MPICH's does not
 *  (docs/lanes.md). With several lanes a value that names none of them is refused when the communicator is first used. */
#define COMMTASK_LANE_KEY "commtask_lane"

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

#ifdef __cplusplus
}
#endif
#endif
