// SPDX-License-Identifier: Apache-2.0
//
// The command line that all benchmarks share, so that one driver can run any of them. What only one benchmark needs
// it declares itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace CLI {
class App; // its header takes the compiler five seconds, in every benchmark
}

namespace commtask::bench {

struct options {
    std::string json_file;    ///< Where the samples go; empty: to the standard output.
    bool is_quick = false;    ///< A tenth of the rounds: to see that it works, not to quote.
    std::size_t n_rounds = 0; ///< Zero: the benchmark's own number.

    /// Rounds to run when the benchmark's own number is `usual`.
    [[nodiscard]] std::size_t rounds(std::size_t usual) const {
        const std::size_t wanted = n_rounds != 0 ? n_rounds : usual;
        return is_quick ? (wanted + 9) / 10 : wanted;
    }

    /// For a benchmark that has options of its own.
    void declare(CLI::App& app);
    /// For one that has not: the exit status to leave with, or nothing when it should go on.
    std::optional<int> parse(int argc, char** argv, const char* question);
};

} // namespace commtask::bench
