// SPDX-License-Identifier: Apache-2.0
//
// Persistent requests that the program starts together. The second MPI_Startall of the same
// requests makes a plan of them. From then on one post starts them all, whatever their number. The
// plan's members are the tasks that MPI_Start of each request would have posted, so waits and tests
// see no difference. The cost: a set must be found again after one of its requests was freed or
// started with others.
#pragma once

#include "persistent.hpp"

#include <mpi.h>

#include <vector>

namespace commtask::interposer {

/// Requests that the program has started together, in its order. One thread of the program at a
/// time uses a set.
struct start_set {
    std::vector<MPI_Request> requests;
    std::vector<persistent*> members;
    commtask_plan_t plan = COMMTASK_PLAN_NULL; ///< From the second start on.
    commtask_t run = COMMTASK_NULL;            ///< The task of the last run, with a reference.
    bool is_for_one_by_one = false;            ///< A plan cannot keep MPI's order of the requests.
};

namespace start_sets {

/// MPI_Startall by one post.
/// @return false: nothing was started; start the requests one by one, so that MPI reports errors
[[nodiscard]] bool start(int count, const MPI_Request* requests);

/// Called when the program frees the request: the requests that were started with it are no longer
/// a set.
void leave(persistent& freed);

} // namespace start_sets
} // namespace commtask::interposer
