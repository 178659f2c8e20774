// SPDX-License-Identifier: Apache-2.0
//
// The tasks that a construct waits for are counted exactly: if a thread waited here for one
// communication task more than the construct does, it could wait for ever.
#include "waits.hpp"

#include "task_records.hpp"
#include "wait.hpp"

#include <commtask/commtask.h>

#include <omp.h>

namespace commtask::omp {
namespace {

/// OpenMP critical sections and locks that this thread has.
thread_local constinit int n_mutexes = 0;

bool is_owned_by_user(ompt_mutex_t kind) noexcept { return kind != ompt_mutex_atomic && kind != ompt_mutex_ordered; }

/// The count of communication tasks that the construct waits for; null: none, or not known.
const std::atomic<unsigned>* awaited(ompt_sync_region_t kind, const task_record& waiting) noexcept {
    switch (kind) {
    case ompt_sync_region_taskwait: return &waiting.n_open;
    case ompt_sync_region_taskgroup:
        if (waiting.n_unknown_groups > 0) {
            return nullptr;
        }
        // A taskgroup without a record began before the task's first communication task.
        return waiting.n_own_groups > 0 ? &waiting.group->n_open : &waiting.n_open;
    case ompt_sync_region_reduction: return nullptr;
    default: return waiting.is_explicit ? nullptr : &waiting.n_below; // barriers
    }
}

} // namespace

bool has_mutex() noexcept { return n_mutexes > 0; }

namespace waits {

void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/, ompt_data_t* task,
             const void* /*where*/) {
    if (endpoint != ompt_scope_begin) {
        return;
    }
    const task_record* const waiting = records::of(task);
    const std::atomic<unsigned>* const n_open = waiting != nullptr ? awaited(kind, *waiting) : nullptr;
    // acquire: partner of the release in end_communication().
    if (n_open == nullptr || n_open->load(std::memory_order_acquire) == 0 || commtask_is_worker_shared() == 0) {
        return;
    }
    if (has_mutex() || (omp_get_num_threads() == 1 && records::has_foreign_events())) {
        return;
    }
    wait_until_none(*n_open);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t /*which*/, const void* /*where*/) {
    n_mutexes += is_owned_by_user(kind) ? 1 : 0;
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t /*which*/, const void* /*where*/) {
    // A mutex that was acquired before mutexes were tracked, or by another thread, was not counted.
    n_mutexes -= is_owned_by_user(kind) && n_mutexes > 0 ? 1 : 0;
}

} // namespace waits
} // namespace commtask::omp
