// SPDX-License-Identifier: Apache-2.0
// The command line of a miniapp: parsed by CLI11 before MPI starts, since the mode decides the thread level; what is
// wrong with it is kept as a sentence for rank 0 to print, so that all ranks leave together with status 2.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace miniapp {

/// What to print before leaving, and the exit status.
struct farewell {
    std::string text;
    int exit_code = 0;
};

/// Nothing when the program should go on; the help text, or a refusal in one line that begins with the program's name.
std::optional<farewell> parse(CLI::App& app, int argc, const char* const* argv);

double physical_memory_bytes();

} // namespace miniapp
