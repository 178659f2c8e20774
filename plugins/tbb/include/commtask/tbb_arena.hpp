// SPDX-License-Identifier: Apache-2.0
//
// An arena with one thread per compute CPU, none of them on the worker's CPU. commtask_init narrows
// the masks of existing threads, which is enough if it runs before oneTBB starts. oneTBB binds an
// arena with a NUMA constraint to the whole node again, so the mask of every thread that enters is
// checked. The compute CPUs are the CPUs of the thread that makes the arena: make it on a thread
// that is not bound. An arena of one thread may briefly get a second thread, since oneTBB runs
// tasks that the communication worker enqueues on a thread of its own.
#pragma once

#include <commtask/commtask.hpp>
#include <commtask/tbb_support.h>
#include <commtask/trace.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace commtask::tbb {

/// A task_arena that leaves the communication worker its core, with the limit on oneTBB's threads
/// that this needs. Make it after commtask_init; use and destroy it as any task_arena. If the
/// worker has no core of its own, the arena works too, and advice() explains the cost.
class arena : public ::tbb::task_arena {
public:
    /// @param max_concurrency  threads at once, including the calling thread; automatic: one for
    ///                         each compute CPU. A larger number is accepted, and advice() says so.
    /// @param reserved_for_masters  as for task_arena.
    /// @throws error  if the library is not initialized or the number is 0 or below.
    explicit arena(int max_concurrency = automatic, unsigned reserved_for_masters = 1)
        : arena(constraints{}.set_max_concurrency(max_concurrency), reserved_for_masters) {}

    /// @param where  NUMA node and number of threads, as for task_arena. Threads are bound to the
    ///               node's CPUs without the worker's, if oneTBB can bind at all (it needs its
    ///               tbbbind library).
    /// @param reserved_for_masters  as for task_arena.
    /// @throws error  if the library is not initialized or the number of threads is 0 or below.
    explicit arena(constraints where, unsigned reserved_for_masters = 1) : arena(settle(where), reserved_for_masters) {}

    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    /// As ~task_arena(): does not wait for enqueued work.
    ~arena() { observer_.observe(false); }

    /// Returns why compute threads may run on the worker's core, and how to prevent that.
    /// @return a message; empty if the worker's core is kept free.
    [[nodiscard]] std::string advice() const {
        if (!advice_.empty()) return advice_;
        if (observer_.n_stuck() == 0) return {};
        return "a thread that entered the arena is bound to the worker's CPU alone and could not be moved: bind it "
               "elsewhere, or name another CPU with COMMTASK_CORE";
    }

    /// Returns whether the worker's core is kept free of this arena's threads.
    /// @return false if advice() returns a message.
    [[nodiscard]] bool leaves_core_free() const { return advice().empty(); }

private:
    /// The arena's constraints after adjustment, the advice, and the worker's CPU.
    struct settlement {
        constraints where;
        std::string advice;
        int worker_cpu; ///< -1: the worker has no CPU of its own.
    };

    /// Moves every thread that enters off the worker's core. The number of the worker's CPU is
    /// stored, since oneTBB's threads may enter while the program is in commtask_finalize.
    class keeps_off final : public ::tbb::task_scheduler_observer {
    public:
        keeps_off(::tbb::task_arena& where, int worker_cpu)
            : ::tbb::task_scheduler_observer(where), worker_cpu_(worker_cpu) {
            observe(true);
        }
        keeps_off(const keeps_off&) = delete;
        keeps_off& operator=(const keeps_off&) = delete;
        ~keeps_off() override { observe(false); }
        void on_scheduler_entry(bool /*is_worker*/) override {
            if (commtask_tbb_thread_leave(worker_cpu_) != COMMTASK_OK) n_stuck_.fetch_add(1, std::memory_order_relaxed);
            commtask_trace_region_begin(COMMTASK_TRACE_REGION_TBB, name_);
        }
        void on_scheduler_exit(bool /*is_worker*/) override {
            commtask_trace_region_end(COMMTASK_TRACE_REGION_TBB, name_);
        }
        [[nodiscard]] std::size_t n_stuck() const noexcept { return n_stuck_.load(std::memory_order_relaxed); }

    private:
        const int worker_cpu_;
        const std::uint32_t name_ = commtask_trace_text("in a oneTBB arena");
        std::atomic<std::size_t> n_stuck_{0};
    };

    arena(const settlement& settled, unsigned reserved_for_masters)
        : ::tbb::task_arena(settled.where, reserved_for_masters), advice_(settled.advice),
          limit_(::tbb::global_control::max_allowed_parallelism, threads_of_process(settled.where.max_concurrency)),
          observer_(*this, settled.worker_cpu) {}

    /// Not more than other code has requested, and enough for this arena.
    static std::size_t threads_of_process(int of_arena) {
        return static_cast<std::size_t>(std::max(of_arena, commtask_tbb_cpus_count()));
    }

    static settlement settle(constraints where) {
        if (where.max_concurrency != automatic && where.max_concurrency < 1) {
            throw error{COMMTASK_ERR_ARGUMENT, "arena: max_concurrency must be at least 1, or automatic"};
        }
        auto facts = commtask_sized_<commtask_info>();
        commtask::frontend::check(commtask_get_info(&facts));
        const int n_free = commtask_tbb_cpus_count();
        const int n_asked = where.max_concurrency;
        if (n_asked == automatic) {
            const int of_constraints = ::tbb::info::default_concurrency(where.numa_id);
            where.max_concurrency = std::max(1, std::min(of_constraints, n_free));
        }
        std::string advice;
        if (facts.worker_is_reserved == 0) {
            advice =
                "the communication worker has no core of its own and shares one with the compute threads: give each "
                "rank a core more, or see commtask-info";
        } else if (n_asked > n_free) {
            advice = std::to_string(n_asked) + " threads were asked for, but only " + std::to_string(n_free) +
                     " CPUs are left to compute beside the worker's: threads will share them";
        }
        return {where, advice, facts.worker_is_reserved == 0 ? -1 : facts.worker_cpu};
    }

    std::string advice_;
    ::tbb::global_control limit_;
    keeps_off observer_;
};

} // namespace commtask::tbb
