// SPDX-License-Identifier: Apache-2.0
//
// Tasks that failed or were refused, where nobody looks: the program gave neither status nor callback, and keeps no handle. Each
// has a sentence, and what happens then is the choice of the error handler of its communicator, window or file, as in MPI: the
// job ends, or the program goes on and commtask_finalize returns COMMTASK_FAILED. What is counted is the process's, since
// operations are refused without a context too.
#pragma once

#include "core/observer.hpp"

#include <commtask/commtask.h>

namespace commtask::detail {

/// Of a context: what its lanes tell of tasks that did not complete.
class task_failures final : public failure_sink {
public:
    void before_callback(const task& which, task_state how) noexcept override;
    void after_callback() noexcept override;
};

/// An operation was refused: puts rank and operation before the reason, which is the last sentence of this thread.
/// @param operation  null: there was none
/// @return the code
int name_refused(int code, const commtask_op* operation) noexcept;

/// At the end of commtask_finalize: says how many tasks failed or were refused where nobody looked, and forgets them.
/// @return COMMTASK_FAILED with a sentence if there were any; `code` if it is none of success, or if there were none
int conclude_failures(int code) noexcept;

} // namespace commtask::detail
