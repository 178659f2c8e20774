// SPDX-License-Identifier: Apache-2.0
//
// The shared command line's words. Here, once, because of what CLI11 costs to compile; the ranges are whole numbers, since it
// prints the limits of others in 300 digits.
#include "harness/options.h"

#include <CLI/CLI.hpp>

namespace commtask::bench {

void options::declare(CLI::App& app) {
    app.add_option("--json", json_file, "write the samples to this file instead of standard output");
    app.add_flag("--quick", is_quick, "a tenth of the rounds");
    app.add_option("--rounds", n_rounds, "number of rounds")->check(CLI::Range(1, 1'000'000));
}

std::optional<int> options::parse(int argc, char** argv, const char* question) {
    CLI::App app{question};
    declare(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& reason) {
        return app.exit(reason) == 0 ? 0 : 2;
    }
    return std::nullopt;
}

} // namespace commtask::bench
