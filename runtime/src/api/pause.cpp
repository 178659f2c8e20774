// SPDX-License-Identifier: Apache-2.0
//
// commtask_pause and commtask_resume. What goes with a pause, CPU masks and DLB's idea of who has a core, is done by the workers
// themselves: the caller is a compute thread, or one that answers a signal, and must not pay for it.
#include "api/context.hpp"
#include "base/last_error.hpp"

#include <commtask/commtask.h>

// Of the library DLB (Dynamic Load Balancing), where the process has it: lends a core of this process to others.
extern "C" {
[[gnu::weak]] int DLB_LendCpu(int cpu);
[[gnu::weak]] int DLB_ReclaimCpu(int cpu);
}

namespace commtask::detail {

void context::worker_pauses(std::size_t lane, bool has_paused) noexcept {
    try {
        if (lane == 0 && has_paused) narrowing_.restore();
        if (lane == 0 && !has_paused) narrowing_.narrow();
    } catch (const std::bad_alloc&) { // compute threads stay where they are
    }
    const int cpu = place_.lane_cpus.at(lane);
    int (*const tell)(int) = has_paused ? &DLB_LendCpu : &DLB_ReclaimCpu;
    if (cpu != no_cpu && tell != nullptr) static_cast<void>(tell(cpu));
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_pause(void) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    runtime->lanes().pause();
    return COMMTASK_OK;
}

int commtask_resume(void) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (runtime->lanes().resume()) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "commtask_resume was called without a commtask_pause that it would undo");
}
