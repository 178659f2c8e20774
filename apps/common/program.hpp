// SPDX-License-Identifier: Apache-2.0
// The frame of every miniapp's main(): MPI up, refusals said by rank 0 and left with by all, memory and the files to be
// written asked for before hours of computing, MPI down. Exit status: 0 all checks passed and all that was asked for is
// written, 1 not so, 2 refused.
#pragma once

#include "common/memory.hpp"
#include "common/report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace miniapp {

/// A file that rank 0 is to write, and the option that named it; `name` is empty when nobody did.
struct output_file {
    const char* option = "";
    std::string name;
};

struct program {
    const char* name = "";
    int thread_level = 0; ///< What the mode needs of MPI_Init_thread.
    std::string message;  ///< Of the command line: to print and leave with `exit_code`; empty: go on.
    int exit_code = 0;    ///< Beside `message`.
    std::vector<output_file> files;
    std::function<std::string(int n_ranks)> settle; ///< Gives the refusal; empty when all is well. Same on all ranks.
    std::function<memory_need(int rank, int n_ranks)> memory; ///< Asked after settle().
    /// Of what rank 0 sees: files it is to read. Asked last; gives the refusal.
    std::function<std::string()> look_at_files = {};
    /// The run itself; true when all checks passed and the files were written. `rank` prints if it is 0.
    std::function<bool(int rank)> run;
};

/// Starts and ends MPI; gives the exit status of the process. An exception of `run` aborts all ranks: one alone cannot
/// leave in order, since the others wait for its messages.
int run_program(int& argc, char**& argv, const program& what);

/// For `run`: true when `why_not` is empty; otherwise says which file was not written, and why.
bool was_written(const program& what, const output_file& file, const std::string& why_not);

} // namespace miniapp
