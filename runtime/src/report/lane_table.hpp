// SPDX-License-Identifier: Apache-2.0
//
// Saturation tables as JSON files: commtask-info --calibrate writes them, people read them, and
// scripts plot them. The library needs the headers of a JSON parser to be built, and no JSON
// library to run.
#pragma once

#include "core/lane_policy.hpp"

#include <cstdint>
#include <string>

namespace commtask::detail {

struct lane_table_file {
    lane_tables tables; ///< If the file has no table for puts, the table for messages is used.
    /// The MPI of the measurement, as mpi_name::text() writes it; empty if not in the file.
    std::string mpi;
    std::string why_not;  ///< If not empty: why the table cannot be used.
    std::int64_t sum = 0; ///< A checksum of the file: ranks with equal sums have the same table.
};

/// Reads a file. @throws std::bad_alloc
[[nodiscard]] lane_table_file read_lane_table(const std::string& file);

/// Reads the contents of a file. @throws std::bad_alloc
[[nodiscard]] lane_table_file lane_table_of(const std::string& text);

/// Writes the contents of a file; tables for puts and collectives only if they have rows.
/// @param mpi  the MPI of the measurement
[[nodiscard]] std::string text_of(const lane_tables& tables, const std::string& mpi);

} // namespace commtask::detail
