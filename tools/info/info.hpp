// SPDX-License-Identifier: Apache-2.0
//
// commtask-info in three steps: every rank collects its part as JSON, rank 0 merges the parts, and
// the result is printed as JSON or as text. JSON is also the format in which the parts are sent.
#pragma once

#include <mpi.h>

#include <nlohmann/json.hpp>

#include <string>

namespace commtask::info {

/// The report of the whole job on rank 0; null on other ranks. Called by all ranks of the
/// communicator, whose error handler must return. `thread_level` is the level that MPI provided.
[[nodiscard]] nlohmann::json collective_report(MPI_Comm comm, int thread_level);

/// The MPI library, its version, and which of the functions that the runtime can use it has.
[[nodiscard]] nlohmann::json mpi_features(int thread_level);

/// The report as text.
[[nodiscard]] std::string as_text(const nlohmann::json& report);

/// Whether the report names something that would make commtask_init fail.
[[nodiscard]] bool has_errors(const nlohmann::json& report);

} // namespace commtask::info
