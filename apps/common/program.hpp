// SPDX-License-Identifier: Apache-2.0
// The frame of every miniapp's main(): MPI up, refusals said by rank 0 and left with by all, the report file tried
// before hours of computing, MPI down. Exit status: 0 all checks passed, 1 a check failed, 2 refused.
#pragma once

#include "common/report.hpp"

#include <functional>
#include <string>

namespace miniapp {

struct program {
    const char* name = "";
    int thread_level = 0;     ///< What the mode needs of MPI_Init_thread.
    std::string message;      ///< Of the command line: to print and leave with `exit_code`; empty: go on.
    int exit_code = 0;        ///< Beside `message`.
    std::string json_file;    ///< Empty: none.
    std::string trace_file{}; ///< Likewise.
    std::function<std::string(int n_ranks)> settle; ///< Gives the refusal; empty when all is well. Same on all ranks.
    /// The run itself; true when all checks passed and the report was written. `rank` prints if it is 0.
    std::function<bool(int rank)> run;
};

/// Starts and ends MPI; gives the exit status of the process. An exception of `run` aborts all ranks: one alone cannot
/// leave in order, since the others wait for its messages.
int run_program(int& argc, char**& argv, const program& what);

/// For `run`: says so when the report was not written; gives `is_written` back.
bool report_written(const program& what, bool is_written);

} // namespace miniapp
