// SPDX-License-Identifier: Apache-2.0
//
// How much of the process lies in memory, for tests of what is given back and of what is bounded. From the kernel and not
// from the allocator, since libraries keep pools of their own.
#pragma once

#include <cstddef>
#include <fstream>

#include <unistd.h>

[[nodiscard]] inline std::size_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::size_t total_pages = 0;
    std::size_t resident_pages = 0;
    file >> total_pages >> resident_pages;
    return resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
