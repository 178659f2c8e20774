// SPDX-License-Identifier: Apache-2.0
//
// The plans of a context. commtask_finalize releases the plans that the program has not released,
// and a file is not closed while a plan uses it. A mutex suffices, since plans are rarely made and
// released. The program's handle remains valid: commtask_finalize keeps an empty plan of some
// hundred bytes until the program releases it. If a worker does not return, the whole plan remains
// for good.
#pragma once

#include "core/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace commtask::detail {

class plan_registry {
public:
    /// Any thread. @return false if memory is exhausted
    [[nodiscard]] bool add(commtask_plan_s& made) noexcept;
    void remove(const commtask_plan_s& released) noexcept;
    /// Called first by the recording thread: the recording's datatypes are freed with the plans of
    /// the current context.
    static void begin_recording(commtask_plan_s& begun) noexcept;
    static void end_recording(const commtask_plan_s& ended) noexcept;

    /// On a progress thread, with the plan being changed. Frees the plan's requests and datatypes
    /// in MPI, completes the tasks that wait for its next run, and destroys the plan.
    static void destroy(commtask_plan_s& released) noexcept;

    /// Called when the library ends, when no thread makes progress. If a plan's run was abandoned,
    /// MPI keeps the plan's requests. Of an open recording only the datatypes are freed; the
    /// recording thread frees the rest.
    void forget_all() noexcept;
    /// Under commtask-run, at the program's commtask_finalize, by the thread that has all progress
    /// locks. Like forget_all(), for the program's plans only: plans that the interposer made of
    /// requests remain.
    void forget_programs() noexcept;
    /// Called instead of forget_all() if a progress thread does not return: that thread may be
    /// inside MPI with a member. Only invalidates the handles.
    void abandon_all() noexcept;
    /// Any thread. Frees the part of a plan that forget_all(), forget_programs() or abandon_all()
    /// has kept, unless a progress thread uses it.
    /// @return false: the plan was not kept
    [[nodiscard]] static bool free_rest(const commtask_plan_s* left) noexcept;

    /// Any thread. Counts the members of all plans for which `is_such` is true.
    template <typename Is>
    [[nodiscard]] std::size_t count_members(Is&& is_such) noexcept {
        const std::lock_guard guard{mutex_};
        std::size_t found = 0;
        for (commtask_plan_s* const each : plans_)
            found += static_cast<std::size_t>(std::count_if(each->begin(), each->end(), is_such));
        return found;
    }

private:
    template <typename Is>
    void forget_if(Is&& is_such) noexcept;

    std::mutex mutex_;
    std::vector<commtask_plan_s*> plans_;
};

} // namespace commtask::detail
