// SPDX-License-Identifier: Apache-2.0
//
// Which lane serves a communicator. The duplicates are made by tasks, so that they keep their place among the communicator's
// collectives; the ranks first agree on their number, since one that is refused alone would leave the others waiting.
#include "api/context.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace commtask::detail {
namespace {

[[nodiscard]] int n_lanes_of(context& runtime) noexcept { return static_cast<int>(runtime.lanes().size()); }

/// A task of this call alone.
[[nodiscard]] int run(const commtask_op& op, commtask_status& status) noexcept {
    commtask_t task = COMMTASK_NULL;
    const int code = commtask_submit(op, nullptr, &task);
    return code == COMMTASK_OK ? commtask_wait(&task, &status) : code;
}

[[nodiscard]] int refuse_failed(const commtask_status& status, const char* what) noexcept {
    const errors_come_back scope;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(status.error, text.data(), &length);
    return refuse(COMMTASK_FAILED, "MPI could not %s: %s", what, text.data());
}

/// What a rank has to say against its own call.
[[nodiscard]] int check_split(context& runtime, int n_comms, const MPI_Comm* comms) noexcept {
    if (comms == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "comms is null");
    if (n_comms >= 1 && n_comms <= n_lanes_of(runtime)) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "n_comms is %d, and must be from 1 to the number of lanes, which is %d: set by COMMTASK_LANES",
                  n_comms, n_lanes_of(runtime));
}

/// Collective. @return COMMTASK_OK if all ranks have the same number and nothing against it
[[nodiscard]] int collective_agree(MPI_Comm comm, int n_comms, int my_code) noexcept {
    const std::array<int, 3> mine{my_code, n_comms, -n_comms};
    std::array<int, 3> lowest{};
    commtask_status status = COMMTASK_STATUS_INIT;
    const int code = run(commtask_op_allreduce(mine.data(), lowest.data(), 3, MPI_INT, MPI_MIN, comm), status);
    if (code == COMMTASK_FAILED) return refuse_failed(status, "let the ranks agree");
    if (code != COMMTASK_OK) return code;
    if (my_code != COMMTASK_OK) return my_code;
    if (lowest[0] != COMMTASK_OK) {
        return refuse(COMMTASK_ERR_ARGUMENT, "another rank of comm was refused, since its n_comms or comms is wrong");
    }
    if (lowest[1] == -lowest[2]) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "n_comms is %d here, and from %d to %d among the ranks of comm", n_comms,
                  lowest[1], -lowest[2]);
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

/// Collective. Nothing of the arguments is wrong.
[[nodiscard]] int collective_split(context& runtime, MPI_Comm comm, int n_comms, MPI_Comm* comms) noexcept {
    std::array<MPI_Comm, most_lanes> made;
    made.fill(MPI_COMM_NULL);
    for (int lane = 0; lane < n_comms; ++lane) {
        MPI_Comm& next = made[static_cast<std::size_t>(lane)];
        commtask_status status = COMMTASK_STATUS_INIT;
        int code = run(commtask_op_comm_dup(&next, comm), status);
        if (code == COMMTASK_FAILED) return refuse_failed(status, "duplicate comm");
        if (code == COMMTASK_OK) code = set_lane(runtime, next, lane);
        if (code != COMMTASK_OK) return code;
    }
    std::copy_n(made.begin(), n_comms, comms);
    return COMMTASK_OK;
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_comm_split_lanes(MPI_Comm comm, int n_comms, MPI_Comm* comms) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (!lane::may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD,
                      "commtask_comm_split_lanes waits, and must not be called in a callback");
    }
    const pause_recording scope;
    int code = COMMTASK_OK;
    const comm_queue* const queue = runtime->queue_of(comm, code);
    if (queue == nullptr) return code;
    if (queue->is_intercommunicator) return refuse(COMMTASK_ERR_COMM, "comm is an intercommunicator");
    code = collective_agree(comm, n_comms, check_split(*runtime, n_comms, comms));
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
