// SPDX-License-Identifier: Apache-2.0
//
// Persistent requests that the program starts together. The second MPI_Startall of the same ones makes a plan of them, which from
// then on is one post, whatever their number; its members are the tasks that MPI_Start of each would have posted, so waits and
// tests see no difference. The price is that a set of which one is freed, or is started with others, has to be found anew.
#pragma once

#include "persistent.hpp"

#include <mpi.h>

#include <vector>

namespace commtask::interposer {

/// What the program has started together, in its order. Its threads take turns on it.
struct start_set {
    std::vector<MPI_Request> requests;
    std::vector<persistent*> members;
    commtask_plan_t plan = COMMTASK_PLAN_NULL; ///< From the second start on.
    commtask_t run = COMMTASK_NULL;            ///< The last one's task, with a reference.
    bool is_for_one_by_one = false;            ///< No plan can keep MPI's order of them.
};

namespace start_sets {

/// MPI_Startall by one post.
/// @return false: nothing was started; the requests are to be started one by one, where MPI says what is wrong
[[nodiscard]] bool start(int count, const MPI_Request* requests);

/// The program frees the request: those that were started with it are no set any more.
void leave(persistent& freed);

} // namespace start_sets
} // namespace commtask::interposer
