// SPDX-License-Identifier: Apache-2.0
//
// Taskloops of bound tasks. In a team of one thread, libomp does not count the copies that it makes
// of a taskloop's task. It decrements the count when detachable copies end, and aborts. There this
// library makes the copies, as separate tasks.
#include "binding.hpp"
#include "chunks.hpp"

#include <omp.h>

namespace commtask::omp {
namespace {

struct taskloop {
    kmp_ident* where;
    std::int32_t thread;
    kmp_task* pattern; ///< Copied for each chunk.
    std::uint64_t* lower;
    std::uint64_t* upper; ///< Both are inside the pattern; `upper` is the largest permitted iteration.
    std::int64_t step;
    kmp_task_duplicate duplicate; ///< Copies data that is not plain bytes; may be null.
    bool is_undeferred;
};

std::uint64_t iterations_of(const taskloop& loop) noexcept {
    if (loop.step < 0) {
        return (*loop.lower - *loop.upper) / static_cast<std::uint64_t>(-loop.step) + 1;
    }
    return (*loop.upper - *loop.lower) / static_cast<std::uint64_t>(loop.step) + 1;
}

void create_chunk(const taskloop& loop, std::uint64_t first, std::uint64_t size, bool is_last) {
    kmp_task* const task = copy_of_bound_task(loop.where, loop.thread, loop.pattern);
    const auto place_in_task = [&](const std::uint64_t* place) {
        return reinterpret_cast<std::uint64_t*>(
            reinterpret_cast<std::byte*>(task) +
            (reinterpret_cast<const std::byte*>(place) - reinterpret_cast<const std::byte*>(loop.pattern)));
    };
    const auto step = static_cast<std::uint64_t>(loop.step); // unsigned arithmetic wraps as the loop counts
    *place_in_task(loop.lower) = *loop.lower + first * step;
    *place_in_task(loop.upper) = *loop.lower + (first + size - 1) * step;
    if (loop.duplicate != nullptr) {
        loop.duplicate(task, loop.pattern, is_last ? 1 : 0);
    }
    if (loop.is_undeferred) {
        make_undeferred(task);
    }
    entries_of_runtime().task(loop.where, loop.thread, task);
}

/// Runs a taskloop in a team of one thread.
void run_here(const taskloop& loop, bool has_group, const loop_cut& cut) {
    if (has_group) {
        __kmpc_taskgroup(loop.where, loop.thread);
    }
    cut_loop(iterations_of(loop), cut, 1, [&](std::uint64_t first, std::uint64_t length, bool is_last) {
        create_chunk(loop, first, length, is_last);
    });
    discard_bound_task(loop.where, loop.thread, loop.pattern);
    if (has_group) {
        __kmpc_end_taskgroup(loop.where, loop.thread);
    }
}

} // namespace

void bound_taskloop(kmp_ident* where, int thread, kmp_task* task, int if_value, std::uint64_t* lower,
                    std::uint64_t* upper, std::int64_t step, int no_group, int schedule, std::uint64_t size,
                    void* duplicate) {
    if (omp_get_num_threads() == 1) {
        run_here(
            {where, thread, task, lower, upper, step, reinterpret_cast<kmp_task_duplicate>(duplicate), if_value == 0},
            no_group == 0, {schedule, size, false});
        return;
    }
    if (if_value == 0) {
        make_undeferred(task);
    }
    entries_of_runtime().taskloop(where, thread, task, if_value, lower, upper, step, no_group, schedule, size,
                                  duplicate);
}

void bound_taskloop_5(kmp_ident* where, int thread, kmp_task* task, int if_value, std::uint64_t* lower,
                      std::uint64_t* upper, std::int64_t step, int no_group, int schedule, std::uint64_t size,
                      int is_strict, void* duplicate) {
    if (omp_get_num_threads() == 1) {
        run_here(
            {where, thread, task, lower, upper, step, reinterpret_cast<kmp_task_duplicate>(duplicate), if_value == 0},
            no_group == 0, {schedule, size, is_strict != 0});
        return;
    }
    if (if_value == 0) {
        make_undeferred(task);
    }
    entries_of_runtime().taskloop_5(where, thread, task, if_value, lower, upper, step, no_group, schedule, size,
                                    is_strict, duplicate);
}

} // namespace commtask::omp
