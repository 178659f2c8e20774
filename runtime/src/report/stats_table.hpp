// SPDX-License-Identifier: Apache-2.0
//
// The table that COMMTASK_STATS=1 prints, and what its columns mean. The counters themselves are in core/counters.hpp:
// the core adds them up and knows nothing of how they look.
#pragma once

#include "core/counters.hpp"

#include <span>
#include <string>
#include <string_view>

namespace commtask::detail {

/// What a column of the table means.
struct stats_column {
    std::string_view name;
    std::string_view meaning;
};
[[nodiscard]] std::span<const stats_column> stats_columns();

/// The table that commtask_finalize prints: a line per lane of each rank and their sum, then tasks by kind and what the columns
/// mean. `lanes` are those of the first rank, then of the next, as many of each; `kind_names` are indexed by kind; `numbers` are
/// those of the ranks, which may be some only of the job's `n_ranks`.
[[nodiscard]] std::string format_stats(std::span<const lane_stats> lanes, std::span<const int> numbers, int n_ranks,
                                       std::span<const std::string_view> kind_names);

} // namespace commtask::detail
