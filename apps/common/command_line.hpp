// SPDX-License-Identifier: Apache-2.0
// The command line of a miniapp: parsed by CLI11 before MPI starts, since the mode decides the thread level; what is
// wrong with it is kept as a sentence for rank 0 to print, so that all ranks leave together with status 2.
#pragma once

#include "common/parsed.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <utility>

namespace miniapp {

/// What to print before leaving, and the exit status.
struct farewell {
    std::string text;
    int exit_code = 0;
};

/// Nothing when the program should go on; the help text, or a refusal in one line that begins with the program's name.
std::optional<farewell> parse(CLI::App& app, int argc, const char* const* argv);

/// Parses, then asks `check` for the refusal of what was read: a sentence, empty when all is well. `into.values` is what
/// the options of `app` and `check` write to.
template <class Options, class Check>
void parse_into(parsed<Options>& into, CLI::App& app, int argc, const char* const* argv, Check&& check) {
    if (auto left = parse(app, argc, argv)) {
        into.message = std::move(left->text);
        into.exit_code = left->exit_code;
    } else if (const std::string no = check(); !no.empty()) {
        into.message = app.get_name() + ": " + no;
        into.exit_code = 2;
    }
}

} // namespace miniapp
