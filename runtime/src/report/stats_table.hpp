// SPDX-License-Identifier: Apache-2.0
//
// The table that COMMTASK_STATS=1 prints, and the meaning of its columns. core/counters.hpp has the
// counters, and does not depend on the table.
#pragma once

#include "core/counters.hpp"

#include <span>
#include <string>
#include <string_view>

namespace commtask::detail {

/// A column of the table and its meaning.
struct stats_column {
    std::string_view name;
    std::string_view meaning;
};
[[nodiscard]] std::span<const stats_column> stats_columns();

/// The table that commtask_finalize prints: a line per lane of each rank and their sum, then tasks
/// by kind and the meaning of the columns.
/// @param lanes  the lanes of the first rank, then of the next; equally many for each rank
/// @param numbers  of the ranks, which may be only some of the job's `n_ranks`
/// @param kind_names  by kind
[[nodiscard]] std::string format_stats(std::span<const lane_stats> lanes, std::span<const int> numbers, int n_ranks,
                                       std::span<const std::string_view> kind_names);

} // namespace commtask::detail
