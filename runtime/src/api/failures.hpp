// SPDX-License-Identifier: Apache-2.0
//
// Tasks that failed or were refused without the program seeing it: it passed neither status nor
// callback, and keeps no handle. An error message is printed for each such task. The error handler
// of its communicator, window or file decides, as in MPI: the job ends, or the program continues
// and commtask_finalize returns COMMTASK_FAILED. The counts belong to the process, since operations
// are also refused without a context.
#pragma once

#include "core/observer.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

/// The lanes of a context report here each task that did not complete.
class task_failures final : public failure_sink {
public:
    void before_callback(const task& which, task_state how) noexcept override;
    void after_callback() noexcept override;
};

/// Prepends rank and operation to the last error message of this thread.
/// @param operation  null: the operation is not known
/// @return `code`
int name_refused(int code, const commtask_op* operation) noexcept;

/// Called at the end of commtask_finalize. Prints how many tasks failed or were refused unseen by
/// the program, and resets the counts.
/// @return `code` if it is an error, or if no task was counted; otherwise COMMTASK_FAILED, with an
/// error message
int conclude_failures(int code) noexcept;

} // namespace commtask::detail
