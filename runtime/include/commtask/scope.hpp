// SPDX-License-Identifier: Apache-2.0
//
// A scope that no task outlives. MPI writes to the buffers of a task until the task has ended, and
// an early return or an exception destroys these buffers. So a scope ends its tasks when it is
// left. Declare it after the buffers of its tasks, since C++ destroys variables in reverse order.
#pragma once

#include <commtask/joining.hpp>
#include <commtask/outcome.hpp>

namespace commtask {

/// Owns the tasks that its thread posts during its lifetime, if their handles are dropped or were
/// never made. The innermost scope owns such a task. The destructor cancels the tasks and waits
/// until all have ended: tasks without open predecessors are started first, receives without a
/// matching message are canceled, and other started tasks complete.
/// A scope belongs to one thread, and to a function or a commtask::routine; other coroutines must
/// not be suspended in it.
class [[nodiscard]] scope {
public:
    /// Begins the scope.
    /// @throws error  in a callback or a user-defined operation, which must not wait.
    scope() : outer_(frontend::owner::innermost()) {
        if (commtask_in_progress_call() != 0) {
            throw error{COMMTASK_ERR_WORKER_THREAD, "a scope waits when it is left, and a callback must not wait"};
        }
        frontend::owner::enter(&mine_);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    /// Cancels open tasks, and waits until they have ended.
    /// @blocking Until all have ended. A send that has started ends when it is received.
    ~scope() {
        if (frontend::owner::innermost() == &mine_) frontend::owner::enter(outer_);
        mine_.join_all();
    }

    /// Waits for the tasks of the scope, without canceling. Tasks whose handles still exist do not
    /// belong to the scope yet.
    /// @return failed if at least one task failed, else canceled if at least one was canceled, else
    ///         completed.
    /// @throws error  in a callback, which must not wait.
    ending wait() {
        const int code = mine_.wait_all();
        if (code == COMMTASK_FAILED) return ending::failed;
        if (code == COMMTASK_CANCELED) return ending::canceled;
        frontend::check(code);
        return ending::completed;
    }

    /// Requests that all tasks of the scope be canceled, without waiting.
    void cancel() noexcept { mine_.cancel_all(); }

private:
    frontend::owner mine_;
    frontend::owner* outer_;
};

} // namespace commtask
