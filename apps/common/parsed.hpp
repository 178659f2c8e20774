// SPDX-License-Identifier: Apache-2.0
// What a command line came to, the same for every miniapp. Apart from command_line.hpp, so that who only reads options
// need not compile CLI11.
#pragma once

#include <string>

namespace miniapp {

template <class Options>
struct parsed {
    Options values;
    std::string message; ///< To print and leave with `exit_code`; empty: go on.
    int exit_code = 0;
};

} // namespace miniapp
