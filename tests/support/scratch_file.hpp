// SPDX-License-Identifier: Apache-2.0
//
// A new file for one test, where POSIX has its temporary ones. It has a name, since MPI opens files by theirs only; whoever opens
// it removes it, MPI by MPI_MODE_DELETE_ON_CLOSE.
#pragma once

#include <cstdlib>
#include <string>

#include <unistd.h>

namespace commtask::test {

/// Makes an empty file. @return its path; empty if none can be made there
inline std::string scratch_file() {
    const char* const folder = std::getenv("TMPDIR");
    // lint-allow(machine-path): where POSIX has its temporary files
    std::string path = std::string{folder == nullptr ? "/tmp" : folder} + "/commtask-test-XXXXXX";
    const int made = mkstemp(path.data());
    if (made < 0) return {};
    close(made);
    return path;
}

} // namespace commtask::test
