// SPDX-License-Identifier: Apache-2.0
// What stdio could not write it says when it tries, in the middle of the output; only that it failed is kept.
// Who prints need not look then: it is asked for once, at the end.
#include "common/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace miniapp {

void hold_standard_descriptors() {
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        // The lowest free number is the one that is closed. The direction is wrong on purpose.
        if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) return;
    }
}

std::string why_output_was_lost() {
    const bool was_lost = std::ferror(stdout) != 0;
    // An end of line more asks for the reason of what failed before.
    if (std::fflush(stdout) == 0 && (!was_lost || ::write(STDOUT_FILENO, "\n", 1) == 1))
        return was_lost ? "writing failed" : "";
    return errno == EBADF ? "it is closed" : std::strerror(errno);
}

} // namespace miniapp
