// SPDX-License-Identifier: Apache-2.0
//
// Which cores this program may use and where its threads sit. A benchmark asks for the cores before the runtime
// starts and again afterwards: the one that has gone is the worker's.
#pragma once

#include <optional>
#include <vector>

namespace commtask::bench {

/// Core numbers (as the system counts them) in the calling thread's affinity mask, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// Binds the calling thread to one core. Throws std::system_error when the system refuses.
void pin_this_thread(int core);

/// Binds the calling thread to several cores. Throws std::system_error when the system refuses.
void pin_this_thread(const std::vector<int>& cores);

/// The two cores of a measurement between a compute thread and a worker.
struct core_pair {
    int compute = 0;
    int worker = 0;
    bool distinct = false; ///< False: one core for both, and no figure has its usual meaning.
};

/// The worker's core is the one in `before` that is missing in `after`; with none missing, the last of `before`.
/// The compute core is the first of `after`.
[[nodiscard]] core_pair find_core_pair(const std::vector<int>& before, const std::vector<int>& after);

} // namespace commtask::bench
