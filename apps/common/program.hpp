// SPDX-License-Identifier: Apache-2.0
// The frame of every miniapp's main(): MPI up, refusals said by rank 0 and left with by all, memory and the files to be
// written asked for before hours of computing, MPI down. Exit status: 0 all checks passed and all that was asked for is
// written, 1 not so, 2 refused.
#pragma once

#include "common/memory.hpp"
#include "common/parsed.hpp"
#include "common/report.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace miniapp {

/// A file that rank 0 is to write, and the option that named it; `name` is empty when nobody did.
struct output_file {
    const char* option = "";
    std::string name;
};

/// What a run came to. On ranks other than 0 the checks suffice.
struct outcome {
    std::vector<check> checks;
    nlohmann::ordered_json told = {}; ///< The report but for the checks.
    bool are_written = true;          ///< The files that the run itself was to write.
};

struct program {
    const char* name = "";
    usual_options usual = {};
    farewell leaves = {};                           ///< Of the command line.
    std::vector<output_file> files = {};            ///< Beside the report.
    std::function<std::string(int n_ranks)> settle; ///< Gives the refusal; empty when all is well. Same on all ranks.
    std::function<memory_need(int rank, int n_ranks)> memory; ///< Asked after settle().
    /// Of what rank 0 sees: files it is to read. Asked last; gives the refusal.
    std::function<std::string()> look_at_files = {};
    /// On each rank, when all refusals are made.
    std::function<void(int rank)> before_runtime = {};
    /// The run itself, with the communication runtime where the mode needs it. `rank` prints what it found if it is 0; the
    /// checks are printed and the report is written afterwards.
    std::function<outcome(int rank)> run;
};

/// Starts and ends MPI; gives the exit status of the process. An exception of `run` aborts all ranks: one alone cannot
/// leave in order, since the others wait for its messages.
int run_program(int& argc, char**& argv, const program& what);

/// A program that needs no more than this: settle(options, n_ranks), memory(options, rank) and run(options, rank).
template <class Options, class Settle, class Memory, class Run>
int run_program(int& argc, char**& argv, const char* name, parsed<Options>& of, Settle&& settle, Memory&& memory,
                Run&& run) {
    return run_program(argc, argv,
                       {.name = name,
                        .usual = of.values,
                        .leaves = of,
                        .settle = [&](int n_ranks) { return settle(of.values, n_ranks); },
                        .memory = [&](int rank, int) { return memory(of.values, rank); },
                        .run = [&](int rank) { return run(of.values, rank); }});
}

/// For `run`: true when `why_not` is empty; otherwise says which file was not written, and why.
bool was_written(const char* name, const output_file& file, const std::string& why_not);

} // namespace miniapp
