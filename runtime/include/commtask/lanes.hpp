// SPDX-License-Identifier: Apache-2.0
//
// Lanes in C++: thin over lanes.h, whose contracts hold. What is made is MPI's own handle, which the caller frees: an owner
// could not free it, since that is collective.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/commtask.h>
#include <commtask/error.hpp>

#include <cstddef>
#include <vector>

namespace commtask {

/// Duplicates of a communicator, one on each of the first lanes. Collective over `comm`.
/// @param comm  the communicator.
/// @param n_comms  how many: from 1 to the number of lanes, the same on all ranks.
/// @return the duplicates, the one of lane 0 first; the caller frees them by MPI_Comm_free.
/// @throws error  if there are not so many lanes, the ranks differ, or MPI cannot duplicate; std::bad_alloc
[[nodiscard]] inline std::vector<MPI_Comm> split_lanes(MPI_Comm comm, int n_comms) {
    std::vector<MPI_Comm> made(n_comms > 0 ? static_cast<std::size_t>(n_comms) : 0, MPI_COMM_NULL);
    frontend::check(commtask_comm_split_lanes(comm, n_comms, made.data()));
    return made;
}

/// Says which lane serves a communicator, before its first task.
/// @param comm  the communicator.
/// @param lane  counted from 0.
/// @throws error  if there is no such lane, or another one serves it already.
inline void set_lane(MPI_Comm comm, int lane) { frontend::check(commtask_comm_set_lane(comm, lane)); }

/// Asks which lane serves a communicator.
/// @param comm  the communicator.
/// @return the lane, counted from 0.
/// @throws error  if it is null, freed or not a communicator.
[[nodiscard]] inline int lane_of(MPI_Comm comm) {
    int lane = 0;
    frontend::check(commtask_comm_lane(comm, &lane));
    return lane;
}

/// Has several lanes serve the messages of one communicator. By message it is collective over `comm`.
/// @param comm  the communicator, of which no message is half posted.
/// @param by  what chooses the lane: commtask_comm_stripe says what each requires.
/// @throws error  if the communicator's info does not promise what is needed, or the ranks differ; if it is striped otherwise.
inline void spread(MPI_Comm comm, commtask_striping by) { frontend::check(commtask_comm_stripe(comm, by)); }

} // namespace commtask

#endif
