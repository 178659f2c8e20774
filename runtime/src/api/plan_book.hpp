// SPDX-License-Identifier: Apache-2.0
//
// The plans of a context, so that commtask_finalize can give back what the program has not, and so that a file is not closed under a
// plan. A lock, since plans are made and given back rarely. A handle that the program still has stays safe to use: commtask_finalize
// leaves an empty plan behind it, some hundred bytes, until the program gives it back; and the whole plan, for good, where a worker
// does not come back.
#pragma once

#include "core/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace commtask::detail {

class plan_book {
public:
    /// Any thread. @return false without memory
    [[nodiscard]] bool add(commtask_plan_s& made) noexcept;
    void remove(const commtask_plan_s& released) noexcept;
    /// The thread that records, first: the recording's datatypes are given back with the plans of the context that is there then.
    static void begin_recording(commtask_plan_s& begun) noexcept;
    static void end_recording(const commtask_plan_s& ended) noexcept;

    /// A driver, and the plan is being changed: MPI forgets it, whoever waits for its next run is told, and it is gone.
    static void destroy(commtask_plan_s& released) noexcept;

    /// At the end, when no lane is driven. MPI keeps the requests of one whose run was given up. Of a recording that is open it forgets
    /// the datatypes; the rest is its thread's.
    void forget_all() noexcept;
    /// Under commtask-run, at the end of the program's use, by who drives all lanes: the same for the program's plans. Those that the
    /// interposer has made of the program's requests go on.
    void forget_programs() noexcept;
    /// Instead of forget_all(), if a driver does not come back: it may be inside MPI with a member. Only the handles become useless.
    void leave_all() noexcept;
    /// Any thread. Frees what the three above have left of a plan, unless a driver has it.
    /// @return false: they have left nothing of this one
    [[nodiscard]] static bool free_left(const commtask_plan_s* left) noexcept;

    /// Any thread. How many members, of all plans, are such.
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
