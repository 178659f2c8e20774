// SPDX-License-Identifier: Apache-2.0
//
// commtask_pause and commtask_resume. The workers themselves change CPU masks and tell DLB which
// core is idle. The calling compute thread, or the thread that handles a signal, must not pay for
// that.
#include "api/context.hpp"
#include "base/last_error.hpp"
#include "base/log.hpp"

#include <commtask/commtask.h>

// Functions of DLB (Dynamic Load Balancing), if the process has loaded it: DLB lends a core of this
// process to other processes.
extern "C" {
[[gnu::weak]] int DLB_LendCpu(int cpu);
[[gnu::weak]] int DLB_ReclaimCpu(int cpu);
}

namespace commtask::detail {

/// The program's threads may use the core of a paused worker, and leave it before the worker
/// resumes.
void context::lend_core(std::size_t lane, bool is_lent) noexcept try {
    const std::lock_guard guard{lending_};
    if (lent_.contains(placement_.lane_cpus[lane]) == is_lent) return;
    const cpu_set core{placement_.lane_cpus[lane]};
    cpu_set lent = lent_;
    if (is_lent) {
        lent |= core;
    } else {
        lent -= core;
    }
    cpu_set free_for_all = placement_.compute_cpus;
    free_for_all |= lent;
    narrowing_.change_to(std::move(free_for_all));
    lent_ = std::move(lent);
    int (*const tell)(int) = is_lent ? &DLB_LendCpu : &DLB_ReclaimCpu;
    if (tell != nullptr) static_cast<void>(tell(placement_.lane_cpus[lane]));
    if (settings_.verbose >= 2) say("lane %zu %s its core", lane, is_lent ? "gives the program" : "takes back");
} catch (const std::bad_alloc&) { // the masks do not change
}

/// The workers have ended: reclaims every core that a worker had lent.
void context::take_back_cores() noexcept {
    if (&DLB_ReclaimCpu == nullptr) return;
    for (const int cpu : placement_.lane_cpus) {
        if (cpu != no_cpu && lent_.contains(cpu)) static_cast<void>(DLB_ReclaimCpu(cpu));
    }
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_pause(void) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    runtime->lanes().pause(pauser::program);
    return COMMTASK_OK;
}

int commtask_resume(void) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (runtime->lanes().resume(pauser::program)) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "commtask_resume was called without a commtask_pause before it");
}
