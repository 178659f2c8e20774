// SPDX-License-Identifier: Apache-2.0
//
// State of the calling thread: whether it is in a progress call, and what it may do. All variables
// are thread-local.
#pragma once

#include "base/assert.hpp"

namespace commtask::detail {

class progress_engine;

struct calling_thread {
    /// The engine of the thread's innermost progress call; null: the thread is not in a progress
    /// call.
    const progress_engine* engine = nullptr;
    bool posts_quietly = false;
    bool waits_are_refused = false;
};
inline constinit thread_local calling_thread this_caller;

/// Whether the calling thread is in a progress call of a lane, and therefore must not wait.
[[nodiscard]] bool in_progress_call() noexcept;
/// Whether the calling thread may wait: it is not in a progress call, and has no refused_waits
/// scope.
[[nodiscard]] bool may_wait() noexcept;

/// The scope of a progress call. A nested progress call of the same engine is an error: it would
/// consume results that the outer call is about to report.
class progress_scope {
public:
    explicit progress_scope(const progress_engine& entered) noexcept : before_(this_caller.engine) {
        COMMTASK_ASSERT(before_ != &entered);
        this_caller.engine = &entered;
    }
    progress_scope(const progress_scope&) = delete;
    progress_scope& operator=(const progress_scope&) = delete;
    ~progress_scope() { this_caller.engine = before_; }

private:
    const progress_engine* before_;
};

/// A scope in which waits of the calling thread are refused: MPI calls a function of the program,
/// and may have a lock. If the function waited, no thread could call MPI.
class refused_waits {
public:
    explicit refused_waits(bool are_refused) noexcept;
    refused_waits(const refused_waits&) = delete;
    refused_waits& operator=(const refused_waits&) = delete;
    ~refused_waits();

private:
    bool before_;
};

/// A scope in which posts of the calling thread wake no worker: the thread is about to wait, and
/// makes progress itself. Used only if the worker shares its core: the worker would take the core
/// from this thread.
class quiet_posts {
public:
    explicit quiet_posts(bool is_quiet) noexcept;
    quiet_posts(const quiet_posts&) = delete;
    quiet_posts& operator=(const quiet_posts&) = delete;
    ~quiet_posts();
};

} // namespace commtask::detail
