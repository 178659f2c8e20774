// SPDX-License-Identifier: Apache-2.0
//
// Waiting for communication on a thread of a team. It does what libomp's own waiting does, run tasks, and what libomp cannot:
// drive the lane where the worker has no core of its own.
#include "wait.hpp"

#include "bridge.hpp"
#include "desk.hpp"
#include "desk_bell.hpp"
#include "errors.hpp"
#include "kmp_task.hpp"
#include "ledger.hpp"

#include <commtask/omp.h>

#include <cstddef>

#include <sched.h>

namespace commtask::omp {
namespace {

/// commtask_progress, with the events that it ends fulfilled afterwards. Bells are for run_my_answers(), which comes next.
int drive(int& moved) noexcept {
    const driving_scope scope(desk::if_mine());
    return commtask_progress(&moved);
}

template <typename Condition>
int wait_until(const Condition& is_met) noexcept {
    int moved = 0;
    // Before anything else: whether this thread may wait at all.
    if (const int code = drive(moved); code != COMMTASK_OK) {
        return set_last_error(code, commtask_last_error());
    }
    const std::int32_t thread = __kmpc_global_thread_num(&task_ident);
    for (;;) {
        desk::run_my_answers();
        if (is_met()) {
            // The last one may have rung its bell just now.
            desk::run_my_answers();
            return COMMTASK_OK;
        }
        (void)__kmpc_omp_taskyield(&task_ident, thread, 0);
        if (const int code = drive(moved); code != COMMTASK_OK) {
            return set_last_error(code, commtask_last_error());
        }
        if (moved == 0) {
            sched_yield();
        }
    }
}

int wait_until_open(std::uint64_t limit) noexcept {
    return wait_until([=] { return ledger::of_process().are_at_most_open(limit); });
}

/// How often progress() may run tasks that come here again, on one stack.
constexpr int most_nested = 8;
thread_local constinit int n_nested = 0;

} // namespace

bool is_too_deep_for_progress() noexcept { return n_nested == most_nested; }

void wait_in_place(const held_task& held) noexcept {
    (void)wait_until([&] { return !held.has_operations(); });
    // Where the lane may not be driven: it is being ended, or this thread drives it already, further out.
    while (held.has_operations()) {
        sched_yield();
    }
}

int progress(serial_start* begun) noexcept {
    const auto settle = [begun] {
        if (begun != nullptr) {
            begun->settle();
        }
    };
    int moved = 0;
    if (commtask_is_worker_shared() == 0) { // else a thread can do what the worker does in a turn of its own
        settle();
        return commtask_progress(&moved);
    }
    if (is_too_deep_for_progress()) {
        settle();
        return COMMTASK_OK;
    }
    ++n_nested;
    const int code = drive(moved);
    settle();
    if (code == COMMTASK_OK) {
        desk::run_my_answers();
    }
    --n_nested;
    return code;
}

} // namespace commtask::omp

using namespace commtask::omp;

int commtask_omp_progress(void) noexcept {
    const int code = progress();
    return code == COMMTASK_OK ? code : set_last_error(code, commtask_last_error());
}

int commtask_omp_wait_all(void) noexcept { return wait_until_open(0); }

int commtask_omp_wait_some(size_t most_open) noexcept { return wait_until_open(most_open); }
