// SPDX-License-Identifier: Apache-2.0
//
// A run as an archive of the Open Trace Format 2, for Vampir and Scalasca. Threads are its locations: what a thread did is
// regions, and MPI's events stand where the thread that drove the lane made them.
#pragma once

#include "model.hpp"

#include <string>

namespace commtask::tools {

/// @param folder  must not exist, or be empty
/// @throws trace_error  if the archive cannot be written
void write_otf2(const run& from, const std::string& folder);

} // namespace commtask::tools
