// SPDX-License-Identifier: Apache-2.0
//
// The runtime's knowledge of the calling thread: whether it is in a progress call, and what it may
// do. The variables belong to one thread each, so threads need not agree on them.
#pragma once

#include "base/assert.hpp"

namespace commtask::detail {

class progress_engine;

struct calling_thread {
    /// The engine of the innermost progress call that the thread is in; null: the thread is in
    /// none.
    const progress_engine* engine = nullptr;
    bool posts_quietly = false;
    bool waits_are_refused = false;
};
inline constinit thread_local calling_thread this_caller;

/// Whether the calling thread is in a progress call of a lane: then it must not wait.
[[nodiscard]] bool in_progress_call() noexcept;
/// Whether the calling thread may wait: it is not in a progress call, and no refused_waits lives.
[[nodiscard]] bool may_wait() noexcept;

/// The calling thread is in a progress call. A second progress call of the same engine inside it
/// would take results away that the outer call is about to report.
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

/// While one of these lives, the calling thread is refused when it waits: it is in MPI, which may
/// hold a lock when it calls a function of the program. Neither that thread nor any other could
/// call MPI then.
class refused_waits {
public:
    explicit refused_waits(bool are_refused) noexcept;
    refused_waits(const refused_waits&) = delete;
    refused_waits& operator=(const refused_waits&) = delete;
    ~refused_waits();

private:
    bool before_;
};

/// While one of these lives the calling thread's posts wake no worker: the thread is about to wait,
/// and makes progress itself. Used only where the worker shares its core: a worker that wakes would
/// take the core from the thread that makes progress.
class quiet_posts {
public:
    explicit quiet_posts(bool is_quiet) noexcept;
    quiet_posts(const quiet_posts&) = delete;
    quiet_posts& operator=(const quiet_posts&) = delete;
    ~quiet_posts();
};

} // namespace commtask::detail
