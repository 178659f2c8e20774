// SPDX-License-Identifier: Apache-2.0
//
// A thread for one window that the program synchronises itself. MPI has no nonblocking fence, start, wait or lock: each holds
// its thread until other processes come, and no lane may wait for that. So all operations of such a window are called here,
// one after the other, in the window's order; other windows and all communicators go on. One thread for each window, since
// ranks may come to different windows in different orders. It sleeps while there is nothing to do. While it waits in MPI the lanes
// know of it: threads that wait for tasks yield, since it may have their core only.
#pragma once

#include "core/lane_set.hpp"

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace commtask::detail {

class blocking_lane {
public:
    /// @param beside    whose drivers call MPI too; they outlast this object
    /// @param on_start  called first on the new thread, which may run where the calling one may: next to a worker's
    ///                  endless loop, if that is the worker
    /// @param stack_bytes  of the thread; 0: the default of the system
    /// @throws std::system_error, std::bad_alloc
    explicit blocking_lane(lane_set& beside, std::function<void()> on_start, std::size_t stack_bytes = 0);
    blocking_lane(const blocking_lane&) = delete;
    blocking_lane& operator=(const blocking_lane&) = delete;
    /// A thread that MPI does not give back is left alone, and touches nothing of ours any more.
    ~blocking_lane();

    /// Any thread. The window is gone: all that is here ends with MPI_ERR_WIN, and what comes. MPI is not called any more.
    void lose_window() noexcept;

    /// A driver, always of the same lane. The task is the thread's until take_ended() gives it back.
    void start(task& next) noexcept;
    /// That driver. @return a task whose result is written; null if none has ended
    [[nodiscard]] task* take_ended() noexcept;
    /// That driver. The task is not given back any more. @return whether it was here
    bool forget(const task& which) noexcept;

private:
    struct shared;
    static void run(const std::shared_ptr<shared>& mine) noexcept;

    const std::shared_ptr<shared> shared_; ///< The thread's, too.
};

} // namespace commtask::detail
