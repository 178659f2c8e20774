// SPDX-License-Identifier: Apache-2.0
// What a command line came to, the same for every miniapp. Apart from command_line.hpp, so that who only reads options
// need not compile CLI11.
#pragma once

#include <string>

namespace miniapp {

/// What tables of modes say of each.
struct mode_facts {
    const char* name;
    int thread_level; ///< That MPI must give.
    bool has_worker;  ///< Its messages are the communication runtime's.
};

/// What every miniapp can be asked for.
struct usual_options {
    int mode = 0; ///< Its place in the table.
    int thread_level = 0;
    bool has_worker = false;
    int n_cores = 1;
    int n_lanes = 1; ///< Of the worker.
    int repeats = 5;
    std::string json_file;
};

struct farewell {
    std::string message; ///< To print and leave with `exit_code`; empty: go on.
    int exit_code = 0;
};

template <class Options>
struct parsed : farewell {
    Options values;
};

} // namespace miniapp
