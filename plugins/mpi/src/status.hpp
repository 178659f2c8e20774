// SPDX-License-Identifier: Apache-2.0
//
// The result of a task in MPI's terms: a status that MPI itself filled, and an error that is passed
// to the program's handler on the waiting thread. As in MPI, the field MPI_ERROR keeps the
// program's value unless several requests were waited for at once and one of them failed.
#pragma once

#include "core/lane.hpp"
#include "core/task_pool.hpp"
#include "errors.hpp"
#include "sections.hpp"

#include <cstring>

namespace commtask::interposer {

[[nodiscard]] inline bool has_ended(const detail::task* which) noexcept {
    return which->life.state() != detail::task_state::open;
}

/// Copies all fields but MPI_ERROR, which keeps the program's value. Null and inactive requests get
/// current.empty_status.
inline void copy_but_error(const MPI_Status& from, MPI_Status* status) noexcept {
    if (status == MPI_STATUS_IGNORE) return;
    const int error_of_program = status->MPI_ERROR;
    *status = from;
    status->MPI_ERROR = error_of_program;
}

/// Fills all fields of a status but MPI_ERROR. The task has ended.
void write_status(const detail::task& ended, MPI_Status* status) noexcept;

/// The task's MPI error code.
[[nodiscard]] inline int error_of(const detail::task& ended) noexcept {
    return ended.life.state() == detail::task_state::failed ? ended.result.error : MPI_SUCCESS;
}

/// The object whose handler is called for the task's error.
[[nodiscard]] error_owner owner_of(const detail::task& ended) noexcept;
/// Like owner_of() for a call that takes several requests, or only queries one: MPICH then uses no
/// request's communicator.
[[nodiscard]] inline error_owner owner_of_one_of_several(const detail::task& ended) noexcept {
    const error_owner owner = owner_of(ended);
#ifdef MPICH_VERSION
    if (owner.window == MPI_WIN_NULL && owner.file == MPI_FILE_NULL) return {};
#endif
    return owner;
}

/// Ends a wait for one task: writes the status, releases the task, raises its error.
/// @return the result of the MPI function
[[nodiscard]] inline int finish_one(commtask_t task, MPI_Status* status) {
    write_status(*task, status);
    detail::raise_flags(task->result.flags);
    const int error = error_of(*task);
    if (error == MPI_SUCCESS) {
        detail::task_pool::drop(task);
        return MPI_SUCCESS;
    }
    const error_owner owner = owner_of(*task);
    detail::task_pool::drop(task);
    return raise(owner, error);
}

} // namespace commtask::interposer
