// SPDX-License-Identifier: Apache-2.0
//
// The ranks agree by one MPI_MIN reduction of a value and of its negative: if both minima give the
// same number, all ranks have that number. A rank that refuses its call takes part too, since the
// other ranks wait for it.
#include "api/collective_lanes.hpp"

#include "base/last_error.hpp"

#include <array>

namespace commtask::detail {

int run_own(const commtask_op& op, commtask_status& status) noexcept {
    commtask_t task = COMMTASK_NULL;
    const int code = commtask_post(op, nullptr, &task);
    return code == COMMTASK_OK ? commtask_wait(&task, &status) : code;
}

int refuse_failed(int error, const char* what) noexcept {
    const errors_return scope;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(error, text.data(), &length);
    return refuse(COMMTASK_FAILED, "MPI could not %s: %s", what, text.data());
}

int collective_agree(MPI_Comm comm, int mine, const char* name, int my_code) noexcept {
    const std::array<int, 3> said{my_code, mine, -mine};
    std::array<int, 3> lowest{};
    commtask_status status = COMMTASK_STATUS_INIT;
    const int code = run_own(commtask_op_allreduce(said.data(), lowest.data(), 3, MPI_INT, MPI_MIN, comm), status);
    if (code == COMMTASK_FAILED) return refuse_failed(status.error, "let the ranks agree");
    if (code != COMMTASK_OK) return code;
    if (my_code != COMMTASK_OK) return my_code;
    if (lowest[0] != COMMTASK_OK) {
        return refuse(COMMTASK_ERR_ARGUMENT, "another rank of comm refused the call; its error message has the reason");
    }
    if (lowest[1] == -lowest[2]) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "%s is %d on this rank, and from %d to %d on the ranks of comm: it must be the same on all ranks",
                  name, mine, lowest[1], -lowest[2]);
}

int collective_duplicate(context& runtime, MPI_Comm comm, int count, std::vector<MPI_Comm>& made) {
    made.assign(static_cast<std::size_t>(count), MPI_COMM_NULL);
    int failed = COMMTASK_OK;
    for (int lane = 0; lane < count; ++lane) {
        MPI_Comm& next = made[static_cast<std::size_t>(lane)];
        commtask_status status = COMMTASK_STATUS_INIT;
        int code = run_own(commtask_op_comm_dup(&next, comm), status);
        if (code == COMMTASK_FAILED) return refuse_failed(status.error, "duplicate comm");
        if (code == COMMTASK_OK) static_cast<void>(runtime.queue_of(next, code, lane));
        // A rank on which a step failed still takes part in the next duplication: the other ranks
        // wait for it there.
        if (failed == COMMTASK_OK) failed = code;
    }
    return failed;
}

} // namespace commtask::detail
