// SPDX-License-Identifier: Apache-2.0
//
// What a figure was measured on: without it a stored result cannot be compared with anything. Everything is read from
// the running system; nothing names the machine or its user.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace commtask::bench {

/// Processor, cores usable by this process, kernel, compiler, build type, OpenMP library in the process (or "none").
[[nodiscard]] nlohmann::ordered_json describe_machine();

/// The same with the MPI library, as `MPI_Get_library_version` tells it: its first line, without build details.
[[nodiscard]] nlohmann::ordered_json describe_machine(const std::string& mpi_library_version);

} // namespace commtask::bench
