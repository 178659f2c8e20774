// SPDX-License-Identifier: Apache-2.0
//
// The command line that all benchmarks share, so that one driver can run any of them. What only one benchmark needs
// it declares itself.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace commtask::bench {

struct options {
    std::string json_file;    ///< Where the JSON goes; empty: nowhere.
    bool is_quick = false;    ///< A tenth of the rounds: to see that it works, not to quote.
    std::size_t n_rounds = 0; ///< Zero: the benchmark's own number.

    /// Rounds to run when the benchmark's own number is `usual`.
    [[nodiscard]] std::size_t rounds(std::size_t usual) const {
        const std::size_t wanted = n_rounds != 0 ? n_rounds : usual;
        return is_quick ? (wanted + 9) / 10 : wanted;
    }

    void declare(CLI::App& app) {
        app.add_option("--json", json_file, "write the results to this file");
        app.add_flag("--quick", is_quick, "a tenth of the rounds");
        app.add_option("--rounds", n_rounds, "rounds of alternation")->check(CLI::Range(1, 1'000'000));
    }
};

} // namespace commtask::bench
