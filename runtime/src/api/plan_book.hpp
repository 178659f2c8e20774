// SPDX-License-Identifier: Apache-2.0
//
// The plans of a context, so that commtask_finalize can give back those that the program has not. A lock, since plans are
// made and given back rarely.
#pragma once

#include "core/plan.hpp"

#include <mutex>
#include <vector>

namespace commtask::detail {

class plan_book {
public:
    /// Any thread. @return false without memory
    [[nodiscard]] bool add(commtask_plan_s& made) noexcept;
    void remove(const commtask_plan_s& released) noexcept;

    /// A driver, and the plan is being changed: MPI forgets it, whoever waits for its next run is told, and it is gone.
    static void destroy(commtask_plan_s& released) noexcept;

    /// At the end, when no lane is driven. One whose run was given up stays, since MPI may still have its requests.
    void forget_all() noexcept;

private:
    std::mutex mutex_;
    std::vector<commtask_plan_s*> plans_;
};

} // namespace commtask::detail
