// SPDX-License-Identifier: Apache-2.0
//
// The list of a lane's incomplete tasks, which the watchdog and commtask_finalize print. Each line
// has the operation and the age of a task, and what the task waits for.
#pragma once

#include "core/scheduler.hpp"
#include "core/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace commtask::detail {

/// One task in a list of incomplete tasks.
struct incomplete_line {
    std::uint64_t since_ns;
    std::string text; ///< The operation, and what it waits for.
};

/// Communication tasks that a front end has not posted yet.
struct not_submitted {
    std::function<std::vector<incomplete_line>()> list{}; ///< With the progress lock.
    std::function<std::size_t()> count{};                 ///< Any thread.
};

/// Selects incomplete tasks.
using task_filter = bool (*)(const task&);
[[nodiscard]] inline bool any_task(const task& /*which*/) { return true; }
/// Excludes receives with an active-message handler, which remain incomplete until the program ends
/// them.
[[nodiscard]] inline bool no_handler(const task& which) { return !which.has_handler(); }

class incomplete_tasks {
public:
    incomplete_tasks(const scheduler& scheduled, const transport& carrier, const not_submitted& elsewhere,
                     std::uint8_t n_lanes)
        : scheduled_(scheduled), transport_(carrier), elsewhere_(elsewhere), n_lanes_(n_lanes) {}

    /// Any thread. Approximate: the number of incomplete tasks, including those that a front end
    /// has not posted, without receives with active-message handlers.
    [[nodiscard]] std::size_t approx_count() const;

    // With the progress lock ----------------------------------------------------------------------

    struct counts {
        std::size_t all = 0;
        std::size_t in_flight = 0;
        std::size_t ready = 0; ///< Tasks that the next progress call starts or cancels.
    };
    [[nodiscard]] counts count(task_filter chosen) const noexcept;

    /// The incomplete tasks as a table; empty if there are none.
    /// @throws std::bad_alloc
    [[nodiscard]] std::string table(const char* heading, task_filter chosen = any_task) const;

    /// Writes table() to stderr; without memory, only the number of tasks.
    /// @return whether there are incomplete tasks
    bool print(const char* heading, task_filter chosen = no_handler) const noexcept;

private:
    [[nodiscard]] std::string where_it_waits(const task& which) const;

    const scheduler& scheduled_;
    const transport& transport_;
    const not_submitted elsewhere_;
    const std::uint8_t n_lanes_;
};

} // namespace commtask::detail
