// SPDX-License-Identifier: Apache-2.0
//
// Calls into the system and to the allocator that some code makes, as rows of a report with the goal 0: counted in a run of their own, on
// a thread that does nothing else. One such thread in a program; it links commtask_bench_system_calls and commtask_bench_allocations.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "harness/allocation_count.h"
#include "harness/cores.h"
#include "harness/report.h"
#include "harness/syscall_count.h"

namespace commtask::bench {

struct calls_made {
    std::string why_not_counted;
    double system_calls = 0;
    double allocations = 0;
    int last_system_call = -1;
};

/// `once()` is watched, between `before()` and `after()` that are not. The first `n_warm` turns are not counted.
template <typename Before, typename Once, typename After>
[[nodiscard]] calls_made count_calls(int core, int n_warm, int n_turns, Before&& before, Once&& once, After&& after) {
    calls_made seen;
    std::thread watched([&] {
        pin_this_thread(core);
        seen.why_not_counted = watch_system_calls_of_this_thread();
        for (int turn = -n_warm; turn < n_turns; ++turn) {
            before();
            const std::uint64_t system_calls = system_calls_seen();
            const std::uint64_t allocations = allocation_calls_of_this_thread();
            once();
            if (turn >= 0) {
                seen.system_calls += static_cast<double>(system_calls_seen() - system_calls);
                seen.allocations += static_cast<double>(allocation_calls_of_this_thread() - allocations);
            }
            after();
        }
        seen.last_system_call = last_system_call_seen();
    });
    watched.join();
    return seen;
}

inline void add_calls(report& out, const calls_made& seen) {
    const auto add = [&](const char* name, double count) {
        out.add({.name = name, .unit = "calls", .rounds = {{count}}, .ratio_to = {}});
    };
    if (seen.why_not_counted.empty()) {
        add("system calls", seen.system_calls);
        if (seen.system_calls > 0)
            std::fprintf(stderr, "the last system call seen: number %ld\n", static_cast<long>(seen.last_system_call));
    } else {
        std::fprintf(stderr, "system calls are not counted: %s\n", seen.why_not_counted.c_str());
    }
    add("allocations", seen.allocations);
}

} // namespace commtask::bench
