// SPDX-License-Identifier: Apache-2.0
//
// What the process says on stderr when COMMTASK_SIGNAL=SIGUSR1 is set and the signal comes: the list of unfinished tasks.
// Tests of what is listed share it.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include <unistd.h>

namespace omp_test {

/// Sends this process the signal and reads what it says, until it has said `wanted`.
inline std::string list_with(const std::string& wanted) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    std::string text;
    char next = 0;
    std::raise(SIGUSR1);
    while (text.find(wanted) == std::string::npos && read(ends[0], &next, 1) == 1) text += next;
    dup2(before, STDERR_FILENO);
    for (const int end : {before, ends[0], ends[1]}) close(end);
    return text;
}

} // namespace omp_test
