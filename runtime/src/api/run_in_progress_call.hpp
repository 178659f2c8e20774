// SPDX-License-Identifier: Apache-2.0
//
// For work that needs MPI and is not a task: a progress thread runs it between two operations, and
// the caller waits. In a callback the caller is the progress thread. Functions that threads run on
// one communicator's lane exclude each other. A function that a callback of another lane runs may
// be concurrent.
#pragma once

#include "api/record.hpp"
#include "base/last_error.hpp"
#include "core/lane.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

/// @param comm  the first lane of this communicator runs `function`
/// @return COMMTASK_OK: `function()` has run; otherwise an error code
template <typename Function>
[[nodiscard]] int run_in_progress_call(Function&& function, MPI_Comm comm = MPI_COMM_WORLD) noexcept {
    if (in_progress_call()) {
        function();
        return COMMTASK_OK;
    }
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD, "a function that MPI calls must not wait for the worker");
    }
    const pause_recording scope;
    struct control_task {
        Function* what;
        bool is_done;
    } mine{&function, false};
    const auto call = [](void* argument) -> int {
        auto& sent = *static_cast<control_task*>(argument);
        (*sent.what)();
        sent.is_done = true;
        return MPI_SUCCESS;
    };
    commtask_op sent = commtask_op_call(+call, &mine, comm);
    sent.reserved = static_cast<int>(flag_uses_first_lane);
    commtask_t task = COMMTASK_NULL;
    if (const int code = commtask_post_operation(&sent, nullptr, &task); code != COMMTASK_OK) return code;
    const int code = commtask_wait(&task, nullptr);
    return mine.is_done ? COMMTASK_OK : code;
}

} // namespace commtask::detail
