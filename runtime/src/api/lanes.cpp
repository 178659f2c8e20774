// SPDX-License-Identifier: Apache-2.0
//
// Chooses the lane of a whole communicator. This is possible only before the communicator's first
// task: earlier tasks stay in their queue, and later tasks on another lane would overtake them.
#include "api/collective_lanes.hpp"
#include "api/context.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <new>
#include <vector>

namespace commtask::detail {
namespace {

[[nodiscard]] int n_lanes_of(context& runtime) noexcept { return static_cast<int>(runtime.lanes().size()); }

/// Checks this rank's arguments.
[[nodiscard]] int check_split(context& runtime, int n_comms, const MPI_Comm* comms) noexcept {
    if (comms == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "comms is null");
    if (n_comms >= 1 && n_comms <= n_lanes_of(runtime)) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "n_comms is %d, and must be from 1 to %d, the number of lanes (COMMTASK_LANES)", n_comms,
                  n_lanes_of(runtime));
}

[[nodiscard]] int set_lane(context& runtime, MPI_Comm comm, int lane) noexcept {
    int code = COMMTASK_OK;
    const comm_queue* const queue = runtime.queue_of(comm, code, lane);
    if (queue == nullptr) return code;
    const int served_by = queue->served_by->number();
    if (served_by == lane) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "lane %d serves %s already: a communicator's lane is chosen before its first task", served_by,
                  queue->name.c_str());
}

/// Collective. The arguments have been checked.
[[nodiscard]] int collective_split(context& runtime, MPI_Comm comm, int n_comms, MPI_Comm* comms) noexcept {
    try {
        std::vector<MPI_Comm> made;
        const int code = collective_duplicate(runtime, comm, n_comms, made);
        if (code == COMMTASK_OK) std::ranges::copy(made, comms);
        return code;
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a list of %d communicators", n_comms);
    }
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_comm_split_lanes(MPI_Comm comm, int n_comms, MPI_Comm* comms) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD,
                      "commtask_comm_split_lanes waits, and must not be called in a callback");
    }
    const pause_recording scope;
    int code = COMMTASK_OK;
    const comm_queue* const queue = runtime->queue_of(comm, code);
    if (queue == nullptr) return code;
    if (queue->is_intercommunicator) return refuse(COMMTASK_ERR_COMM, "comm is an intercommunicator");
    code = collective_agree(comm, n_comms, "n_comms", check_split(*runtime, n_comms, comms));
    return code == COMMTASK_OK ? collective_split(*runtime, comm, n_comms, comms) : code;
}

int commtask_comm_set_lane(MPI_Comm comm, int lane) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (!runtime->lanes().has(lane)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "lane is %d, and the lanes of this process are 0 to %d (COMMTASK_LANES)",
                      lane, n_lanes_of(*runtime) - 1);
    }
    const pause_recording scope;
    return set_lane(*runtime, comm, lane);
}

int commtask_comm_lane(MPI_Comm comm, int* lane) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (lane == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "lane is null");
    const pause_recording scope;
    int code = COMMTASK_OK;
    const comm_queue* const queue = runtime->queue_of(comm, code);
    if (queue != nullptr) *lane = queue->served_by->number();
    return code;
}
