// SPDX-License-Identifier: Apache-2.0
//
// commtask-info in three steps: every rank collects what it knows as JSON, rank 0 brings the pieces together, and the
// result is printed as it is or as text. JSON in between, because pieces of different ranks have to travel anyway.
#pragma once

#include <mpi.h>

#include <nlohmann/json.hpp>

#include <string>

namespace commtask::info {

/// The report of the whole job, at rank 0; null elsewhere. Called by all ranks of the communicator, whose error handler
/// must return. `thread_level` is what MPI gave.
[[nodiscard]] nlohmann::json collective_report(MPI_Comm comm, int thread_level);

/// The MPI library, its version, and which of the functions that matter to the runtime it has.
[[nodiscard]] nlohmann::json mpi_features(int thread_level);

/// The report for people.
[[nodiscard]] std::string as_text(const nlohmann::json& report);

/// Whether the report names something that would keep commtask_init from working.
[[nodiscard]] bool has_errors(const nlohmann::json& report);

} // namespace commtask::info
