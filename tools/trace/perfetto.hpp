// SPDX-License-Identifier: Apache-2.0
//
// A run as a trace of Perfetto's: ui.perfetto.dev and trace_processor read it. A process per rank; in it the threads with what
// they did, the lanes with their tasks, and how many of these were where.
#pragma once

#include "model.hpp"

#include <string>

namespace commtask::tools {

/// @throws trace_error  if the file cannot be written
void write_perfetto(const run& from, const std::string& path);

} // namespace commtask::tools
