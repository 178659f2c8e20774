// SPDX-License-Identifier: Apache-2.0
//
// A part of a function that no task outlives. MPI writes to the buffers of a task until the task has ended, and an early return or an
// exception takes these buffers away; so a scope that is left ends the tasks first. It must be declared after the buffers that its
// tasks use, since C++ destroys what was declared last first.
#pragma once

#include <commtask/joining.hpp>
#include <commtask/outcome.hpp>

namespace commtask {

/// What the thread posts while one of these lives, with a handle that is dropped or without one, belongs to the innermost scope. A scope
/// that is left cancels its tasks and waits until all have ended: what has no open predecessors is started first, a receive that no
/// message has matched is withdrawn, anything that has started completes. It belongs to its thread, and to a function or a
/// commtask::routine; another coroutine must not be suspended in it.
class [[nodiscard]] scope {
public:
    /// Begins.
    /// @throws error  in a callback, or in another function that the worker runs, where nobody may wait.
    scope() : outer_(frontend::owner::innermost()) {
        if (commtask_in_progress_call() != 0) {
            throw error{COMMTASK_ERR_WORKER_THREAD, "a scope waits when it is left, and a callback must not wait"};
        }
        frontend::owner::enter(&mine_);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    /// Cancels what is open, and waits until it has ended.
    /// @blocking Until all have ended: a send that has started ends when its receiver takes it.
    ~scope() {
        if (frontend::owner::innermost() == &mine_) frontend::owner::enter(outer_);
        mine_.join_all();
    }

    /// Waits for what belongs to the scope, without canceling. Tasks whose handles live are not among them yet.
    /// @return failed if at least one failed, else canceled if at least one was, else completed.
    /// @throws error  where waiting is refused.
    ending wait() {
        const int code = mine_.wait_all();
        if (code == COMMTASK_FAILED) return ending::failed;
        if (code == COMMTASK_CANCELED) return ending::canceled;
        frontend::check(code);
        return ending::completed;
    }

    /// Asks for all of them to be canceled, without waiting.
    void cancel() noexcept { mine_.cancel_all(); }

private:
    frontend::owner mine_;
    frontend::owner* outer_;
};

} // namespace commtask
