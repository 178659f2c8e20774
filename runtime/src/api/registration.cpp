// SPDX-License-Identifier: Apache-2.0
//
// The registration of a communicator at its first task. Only a progress thread may query the
// communicator, so a submitter posts a control task first and waits for it. A submitter with
// COMMTASK_TRY gets COMMTASK_AGAIN.
#include "api/context.hpp"

#include "base/last_error.hpp"
#include "core/task_pool.hpp"

#include <commtask/commtask.h>

#include <array>

namespace commtask::detail {
namespace {

[[nodiscard]] int refuse_comm(int mpi_code) noexcept {
    if (mpi_code == MPI_ERR_NO_MEM) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory, or no thread, for a new communicator");
    }
    if (mpi_code == MPI_ERR_INFO_VALUE) {
        return refuse(
            COMMTASK_ERR_ARGUMENT,
            "the info of comm has a " COMMTASK_LANE_KEY
            " that names no lane of this process: it must be a number from 0 to COMMTASK_LANES - 1, or thread");
    }
    const errors_return scope;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(mpi_code, text.data(), &length);
    return refuse(COMMTASK_ERR_COMM, "comm is not a communicator, or was freed: %s", text.data());
}

[[nodiscard]] comm_queue* add_in_progress_call(mpi_comms& comms, MPI_Comm comm, int lane, int& code) noexcept {
    comm_queue* queue = nullptr;
    if (const int mpi_code = comms.add(comm, queue, lane); mpi_code != MPI_SUCCESS) code = refuse_comm(mpi_code);
    return queue;
}

} // namespace

comm_queue* context::register_comm(MPI_Comm comm, int& code, int lane) noexcept {
    if (comm == MPI_COMM_NULL) {
        code = refuse(COMMTASK_ERR_COMM, "comm is MPI_COMM_NULL");
        return nullptr;
    }
    if (detail::in_progress_call()) return add_in_progress_call(comms_, comm, lane, code);
    if (!detail::may_wait()) {
        code = refuse(COMMTASK_ERR_WORKER_THREAD, "comm is not registered, and a function that MPI calls must not wait "
                                                  "for that: call commtask_comm_register first");
        return nullptr;
    }
    struct registration {
        mpi_comms* comms;
        MPI_Comm comm;
        int lane;
        comm_queue* queue;
    } wanted{&comms_, comm, lane, nullptr};
    const auto add = [](void* argument) -> int {
        auto& what = *static_cast<registration*>(argument);
        return what.comms->add(what.comm, what.queue, what.lane);
    };
    commtask_t task = COMMTASK_NULL;
    code = post_own(commtask_op_call(+add, &wanted, MPI_COMM_WORLD), nullptr, &task);
    if (code != COMMTASK_OK) return nullptr;
    wait_in_library(lanes_, waiting(), -1, [task] { return task->life.state() != task_state::open; });
    if (wanted.queue == nullptr) code = refuse_comm(task->result.error);
    task_pool::drop(task);
    return wanted.queue;
}

comm_queue* context::try_register_comm(MPI_Comm comm, int& code) noexcept {
    if (comm == MPI_COMM_NULL || in_progress_call())
        return register_comm(comm, code, mpi_comms::any_lane); // does not wait
    mpi_comms::registration_request* request = nullptr;
    if (const int result = comms_.request_registration(comm, request); result != MPI_ERR_PENDING) {
        code = refuse_comm(result);
        return nullptr;
    }
    code = COMMTASK_AGAIN;
    if (request != nullptr) {
        const auto serve = [](void* asked) -> int {
            mpi_comms::serve(*static_cast<mpi_comms::registration_request*>(asked));
            return MPI_SUCCESS;
        };
        commtask_options without_waiting = COMMTASK_OPTIONS_INIT;
        without_waiting.flags = COMMTASK_TRY;
        code = post_own(commtask_op_call(+serve, request, MPI_COMM_WORLD), &without_waiting, nullptr);
        if (code != COMMTASK_OK) comms_.take_back(*request);
    }
    if (code == COMMTASK_OK || code == COMMTASK_AGAIN) {
        code = refuse(COMMTASK_AGAIN, "comm is not registered yet: try again");
    }
    return nullptr;
}

} // namespace commtask::detail
