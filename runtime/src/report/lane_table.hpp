// SPDX-License-Identifier: Apache-2.0
//
// Saturation tables as files: JSON, since commtask-info --calibrate writes them, people look at them and scripts draw them. That is
// a parser in the library, which needs its headers when it is built and nothing when it runs.
#pragma once

#include "core/lane_policy.hpp"

#include <cstdint>
#include <string>

namespace commtask::detail {

struct lane_table_file {
    lane_tables tables;   ///< Puts are judged like messages, if the file has none of puts.
    std::string mpi;      ///< It was measured with, as mpi_name::text() says it; empty if the file does not say.
    std::string why_not;  ///< Not empty: it cannot be used, and why.
    std::int64_t sum = 0; ///< Of its bytes: two ranks that have the same one have the same table.
};

/// Reads one. @throws std::bad_alloc
[[nodiscard]] lane_table_file read_lane_table(const std::string& file);

/// The same of what a file holds.
[[nodiscard]] lane_table_file lane_table_of(const std::string& text);

/// What such a file holds: of puts and collectives only what has rows. @param mpi  what it was measured with
[[nodiscard]] std::string text_of(const lane_tables& tables, const std::string& mpi);

} // namespace commtask::detail
