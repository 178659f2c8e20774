// SPDX-License-Identifier: Apache-2.0
//
// A thread for one window that the program synchronises itself. MPI has no nonblocking fence,
// start, wait or lock: each blocks its thread until other processes act, and no lane may wait for
// that. So this thread makes all MPI calls for such a window, in the window's order; other windows
// and all communicators continue to make progress. Each window has a thread of its own, since ranks
// may synchronise different windows in different orders.
//
// The thread waits on a condition variable while it has no operation. While it is blocked in MPI,
// threads that wait for tasks yield, since it may have no core but theirs.
#pragma once

#include "core/lane_set.hpp"

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace commtask::detail {

class blocking_lane {
public:
    /// @param beside  the lanes whose progress threads call MPI too; they outlive this object
    /// @param on_start  called first on the new thread, which inherits the affinity of its creator:
    /// if a worker creates it, that is the core of a polling worker
    /// @param stack_bytes  of the thread; 0: the default of the system
    /// @throws std::system_error, std::bad_alloc
    explicit blocking_lane(lane_set& beside, std::function<void()> on_start, std::size_t stack_bytes = 0);
    blocking_lane(const blocking_lane&) = delete;
    blocking_lane& operator=(const blocking_lane&) = delete;
    /// A thread that does not return from MPI is detached, and uses no object of the library
    /// afterwards.
    ~blocking_lane();

    /// Any thread. The program has freed the window: all operations here, and all later ones, end
    /// with MPI_ERR_WIN. The thread does not call MPI any more.
    void window_was_freed() noexcept;

    /// With the progress lock of one lane, always the same. The task belongs to this thread until
    /// take_ended() returns it.
    void start(task& next) noexcept;
    /// With that progress lock. @return an ended task, whose result is written; null if there is
    /// none
    [[nodiscard]] task* take_ended() noexcept;
    /// With that progress lock. Abandons a task: take_ended() will not return it. @return whether
    /// the task was here
    bool forget(const task& which) noexcept;

private:
    struct shared;
    static void run(const std::shared_ptr<shared>& mine) noexcept;

    const std::shared_ptr<shared> shared_; ///< Shared with the thread.
};

} // namespace commtask::detail
