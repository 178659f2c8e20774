// SPDX-License-Identifier: Apache-2.0
//
// Affinity by the system's own calls, not by the placement code under test: a benchmark that asked the runtime where
// its worker sits would measure what the runtime believes.
#include "harness/cores.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

namespace commtask::bench {

std::vector<int> allowed_cores() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) {
        throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
    }
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &mask)) {
            cores.push_back(core);
        }
    }
    return cores;
}

void pin_this_thread(const std::vector<int>& cores) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const int core : cores) {
        CPU_SET(core, &mask);
    }
    if (const int error = pthread_setaffinity_np(pthread_self(), sizeof mask, &mask); error != 0) {
        throw std::system_error(error, std::generic_category(), "pthread_setaffinity_np");
    }
}

void pin_this_thread(int core) { pin_this_thread(std::vector<int>{core}); }

core_pair find_core_pair(const std::vector<int>& before, const std::vector<int>& after) {
    core_pair pair{.compute = after.front(), .worker = before.back(), .distinct = false};
    for (const int core : before) {
        if (std::ranges::find(after, core) == after.end()) {
            pair.worker = core;
        }
    }
    pair.distinct = pair.compute != pair.worker;
    return pair;
}

} // namespace commtask::bench
