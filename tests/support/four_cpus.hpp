// SPDX-License-Identifier: Apache-2.0
//
// A machine with four CPUs, whatever there is: for programs that ask what becomes of the threads' masks, and of the cores that the
// library DLB (Dynamic Load Balancing) is told of. A shared library that stands in for the kernel's calls and for DLB; a program is
// linked with it, or gets it by LD_PRELOAD. hwloc gets its machine from HWLOC_SYNTHETIC="core:4 pu:1".
#pragma once

#include <map>
#include <mutex>
#include <set>

namespace commtask::detail::testing {

using mask = unsigned long; ///< Of the CPUs 0 to 3, the lowest bit first.
constexpr mask all_cpus = 0b1111;

/// What the library asks of the kernel and of DLB, from any thread.
class four_cpus {
public:
    [[nodiscard]] mask mask_of(int thread) {
        const std::lock_guard guard{mutex_};
        const auto found = masks_.find(thread);
        return found == masks_.end() ? all_cpus : found->second;
    }
    void set_mask(int thread, mask cpus) {
        const std::lock_guard guard{mutex_};
        masks_[thread] = cpus;
    }
    int lend(int cpu, bool is_lent) {
        const std::lock_guard guard{mutex_};
        if (is_lent) {
            lent_.insert(cpu);
            ++n_lent_;
        } else {
            lent_.erase(cpu);
        }
        return 0;
    }
    [[nodiscard]] std::set<int> lent() {
        const std::lock_guard guard{mutex_};
        return lent_;
    }
    [[nodiscard]] int n_lent() {
        const std::lock_guard guard{mutex_};
        return n_lent_;
    }

private:
    std::mutex mutex_;
    std::map<int, mask> masks_; ///< By the kernel's number of a thread.
    std::set<int> lent_;        ///< What DLB may give to other processes.
    int n_lent_ = 0;
};

/// The one of this process.
[[nodiscard, gnu::visibility("default")]] four_cpus& machine();

} // namespace commtask::detail::testing
