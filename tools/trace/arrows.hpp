// SPDX-License-Identifier: Apache-2.0
//
// What waited for what inside a rank, as arrows: between communication tasks, and between these and compute tasks on both sides. A
// compute task that only posts and ends by an event stands for what it posted, as in the report (tools/report/load.py).
#pragma once

#include "model.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace commtask::tools {

/// An arrow has one identifier at both of its ends.
struct arrows {
    using ends = std::vector<std::uint64_t>;
    std::unordered_map<std::uint64_t, ends> from_end; ///< By task: to what went on once it had ended.
    std::unordered_map<std::uint64_t, ends> to_issue; ///< By task: from what it waited for before its issue.
    std::unordered_map<const span*, ends> from_slice; ///< To what waited for a compute task.
    std::unordered_map<const span*, ends> to_slice;   ///< From what a compute task waited for.
};

[[nodiscard]] arrows find_arrows(const rank_trace& of);

/// The same on every rank is a message's; an arrow inside a rank has its own number.
[[nodiscard]] std::uint64_t arrow_id(const rank_trace& of, std::uint64_t before, std::uint64_t after);

} // namespace commtask::tools
