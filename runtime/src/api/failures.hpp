// SPDX-License-Identifier: Apache-2.0
//
// Tasks that failed or were refused and whose outcome the program does not see: it gave neither
// status nor callback, and keeps no handle. Each such task has a sentence. The error handler of its
// communicator, window or file decides, as in MPI: the job ends, or the program goes on and
// commtask_finalize returns COMMTASK_FAILED. The counts belong to the process, since operations are
// refused without a context too.
#pragma once

#include "core/observer.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

/// The lanes of a context report tasks here that did not complete.
class task_failures final : public failure_sink {
public:
    void before_callback(const task& which, task_state how) noexcept override;
    void after_callback() noexcept override;
};

/// Puts rank and operation before the reason of a refusal, which is the last error text of this
/// thread.
/// @param operation  null: none was given
/// @return `code`
int name_refused(int code, const commtask_op* operation) noexcept;

/// Called at the end of commtask_finalize: says how many tasks failed or were refused unseen by the
/// program, and resets the counts.
/// @return `code` if it is an error, or if no task was counted; otherwise COMMTASK_FAILED with a
/// sentence
int conclude_failures(int code) noexcept;

} // namespace commtask::detail
