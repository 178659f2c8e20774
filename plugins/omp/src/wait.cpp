// SPDX-License-Identifier: Apache-2.0
//
// Waiting for communication on a thread of a team. Like libomp's own waiting, it runs tasks; with a
// shared worker it also makes progress.
#include "wait.hpp"

#include "bridge.hpp"
#include "completion_queue.hpp"
#include "errors.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "proxy_task.hpp"
#include "waiting.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <cstddef>
#include <ctime>

#include <sched.h>

namespace commtask::omp {
namespace {

/// Calls commtask_progress, and afterwards fulfils the events that it ends. The caller then runs
/// the completed proxy tasks by run_my_completions().
int progress(int& moved) noexcept {
    const progress_scope scope(completion_queue::mine_if_any());
    return commtask_progress(&moved);
}

/// @param runs_others  whether other tasks may run on top of the current task
template <typename Condition>
int wait_until(const Condition& is_met, bool runs_others = true) noexcept {
    int moved = 0;
    // First tests whether this thread may wait at all.
    if (const int code = progress(moved); code != COMMTASK_OK) {
        return set_last_error(code, commtask_last_error());
    }
    const std::int32_t thread = __kmpc_global_thread_num(&task_ident);
    for (;;) {
        if (runs_others) {
            completion_queue::run_my_completions();
        }
        if (is_met()) {
            if (runs_others) { // the last task may have completed its proxy task just now
                completion_queue::run_my_completions();
            }
            return COMMTASK_OK;
        }
        if (runs_others) {
            (void)__kmpc_omp_taskyield(&task_ident, thread, 0);
        }
        if (const int code = progress(moved); code != COMMTASK_OK) {
            return set_last_error(code, commtask_last_error());
        }
        if (moved == 0) {
            sched_yield();
        }
    }
}

int wait_until_open(std::uint64_t limit) noexcept {
    return wait_until([=] { return outstanding::of_process().are_at_most_open(limit); });
}

/// The maximum nesting of progress(): the tasks that it runs may call it again, on the same stack.
constexpr int most_nested = 8;
thread_local constinit int n_nested = 0;

/// A thread may have this many communication tasks that wait for their dependences before it
/// creates another, as long as tasks end: a graph that is created far ahead does not fit into the
/// caches.
constexpr std::size_t most_ahead = 4;
constexpr std::uint64_t most_idle_ns = 500'000;
/// The maximum number of consecutive creations without a delay, after a delay without effect.
constexpr unsigned most_passed_by = 256;

std::uint64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

void throttle_creator() noexcept {
    thread_local constinit unsigned n_in_vain = 0;
    thread_local constinit unsigned n_to_pass_by = 0;
    const outstanding& all = outstanding::of_process();
    if (approx_waiting_of_mine() <= most_ahead || n_nested > 0 || may_not_progress() ||
        commtask_is_worker_shared() == 0) {
        return;
    }
    if (n_to_pass_by > 0) {
        --n_to_pass_by;
        return;
    }
    ++n_nested;
    std::uint64_t moved_at = now_ns();
    std::uint64_t n_ended = all.n_ended();
    const std::int32_t thread = __kmpc_global_thread_num(&task_ident);
    while (approx_waiting_of_mine() > most_ahead) {
        int moved = 0;
        if (progress(moved) != COMMTASK_OK) {
            break;
        }
        completion_queue::run_my_completions();
        (void)__kmpc_omp_taskyield(&task_ident, thread, 0);
        if (all.n_ended() != n_ended) {
            n_ended = all.n_ended();
            moved_at = now_ns();
        } else if (now_ns() - moved_at > most_idle_ns) {
            n_to_pass_by = std::min(most_passed_by, 1U << std::min(n_in_vain++, 31U));
            break;
        } else {
            sched_yield();
        }
    }
    if (n_to_pass_by == 0) {
        n_in_vain = 0;
    }
    --n_nested;
}

bool may_not_progress() noexcept { return n_nested == most_nested || has_mutex(); }

void wait_in_place(const task_binding& held) noexcept {
    (void)wait_until([&] { return !held.has_operations(); }, !has_mutex());
    // If this thread may not make progress, the library is finalizing, or the thread is inside a
    // progress call already.
    while (held.has_operations()) {
        sched_yield();
    }
}

void wait_until_none(const std::atomic<unsigned>& number) noexcept {
    // acquire: partner of the release in end_communication().
    (void)wait_until([&] { return number.load(std::memory_order_acquire) == 0; });
}

int progress(serial_start* begun) noexcept {
    const auto settle = [begun] {
        if (begun != nullptr) {
            begun->settle();
        }
    };
    int moved = 0;
    // otherwise this thread does the worker's work in its own time slice
    if (commtask_is_worker_shared() == 0) {
        settle();
        return commtask_progress(&moved);
    }
    if (may_not_progress()) {
        settle();
        return COMMTASK_OK;
    }
    ++n_nested;
    const int code = progress(moved);
    settle();
    if (code == COMMTASK_OK) {
        completion_queue::run_my_completions();
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
