// SPDX-License-Identifier: Apache-2.0
//
// Lanes in C++: a thin layer over lanes.h, whose contracts apply. The functions return MPI's own
// communicators, and the caller frees them. An owning object could not free them, since
// MPI_Comm_free is collective.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/commtask.h>
#include <commtask/error.hpp>

#include <cstddef>
#include <vector>

namespace commtask {

/// Duplicates a communicator, with one duplicate on each of the first lanes. Collective over
/// `comm`.
/// @param comm  the communicator.
/// @param n_comms  from 1 to the number of lanes, the same on all ranks.
/// @return the duplicates, from lane 0 on; the caller frees them by MPI_Comm_free.
/// @throws error  if there are not so many lanes, the ranks differ, or MPI cannot duplicate;
///                std::bad_alloc
[[nodiscard]] inline std::vector<MPI_Comm> split_lanes(MPI_Comm comm, int n_comms) {
    std::vector<MPI_Comm> made(n_comms > 0 ? static_cast<std::size_t>(n_comms) : 0, MPI_COMM_NULL);
    frontend::check(commtask_comm_split_lanes(comm, n_comms, made.data()));
    return made;
}

/// Chooses the lane of a communicator before its first task.
/// @param comm  the communicator.
/// @param lane  counted from 0.
/// @throws error  if there is no such lane, or another lane serves `comm` already.
inline void set_lane(MPI_Comm comm, int lane) { frontend::check(commtask_comm_set_lane(comm, lane)); }

/// Returns the lane that serves a communicator.
/// @param comm  the communicator.
/// @return the lane, counted from 0.
/// @throws error  if `comm` is null, freed or not a communicator.
[[nodiscard]] inline int lane_of(MPI_Comm comm) {
    int lane = 0;
    frontend::check(commtask_comm_lane(comm, &lane));
    return lane;
}

/// Stripes the messages of one communicator over several lanes. By message it is collective over
/// `comm`.
/// @param comm  the communicator; no message of it may have only one of send and receive posted.
/// @param by  the key that chooses the lane: commtask_comm_stripe has the requirements.
/// @throws error  if the communicator's info lacks a required key, the ranks differ, or the
///                communicator is striped in the other way.
inline void stripe(MPI_Comm comm, commtask_striping by) { frontend::check(commtask_comm_stripe(comm, by)); }

} // namespace commtask

#endif
