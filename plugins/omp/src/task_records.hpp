// SPDX-License-Identifier: Apache-2.0
//
// The record of each OpenMP task: its parent, its innermost taskgroup, and the number of its
// communication tasks that have not ended. libomp does not publish its own records. An OMPT tool
// receives task events, so a record is attached to OMPT's task data. If another tool is active,
// this library has no records, and threads wait as libomp alone does.
#pragma once

#include "errors.hpp"
#include "tool.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::omp {

struct task_record;

namespace check {
struct first_child; ///< A communication task outside of any taskgroup, for the error message.
void forget(first_child* child) noexcept;
} // namespace check

/// The count that a construct waits for; exists while it is referenced.
struct open_count {
    std::atomic<unsigned> n_references{1};
    std::atomic<unsigned> n_open{0}; ///< Communication tasks that have not ended.
};

/// A taskgroup, with a reference to the enclosing taskgroup.
struct group_record : open_count {
    group_record* outer = nullptr;
};

/// A task; `n_open` counts its children. It has references to its parent and to its taskgroups.
struct task_record : open_count {
    task_record* parent = nullptr; ///< Null: an implicit task, or not known.
    /// Its implicit ancestor, or itself; null: not known. Its parents have a reference to that
    /// record.
    task_record* implicit = nullptr;
    group_record* around = nullptr; ///< The innermost taskgroup in which it was created.
    /// The innermost taskgroup in which its children are created: its own, or `around`.
    group_record* group = nullptr;
    int n_own_groups = 0;     ///< Its own open taskgroups; used by its own thread only.
    int n_unknown_groups = 0; ///< Open taskgroups inside these for which memory was exhausted.
    std::uint64_t trace_id = 0;
    bool is_explicit = false;
    bool is_undeferred = false; ///< By an if clause; not because its team has one thread.
    /// False if it began before tasks were tracked, perhaps in unknown taskgroups.
    bool is_whole = true;
    std::atomic<bool> is_communication{false};
    std::atomic<bool> has_ended{false};
    /// For an implicit task: the communication tasks of all its descendants.
    std::atomic<unsigned> n_below{0};
    /// Its child communication tasks outside of any taskgroup.
    std::atomic<unsigned> n_not_waited_for{0};
    std::atomic<check::first_child*> first{nullptr}; ///< The first of these children.
    std::atomic<bool> was_reported{false};

    task_record() = default;
    task_record(const task_record&) = delete;
    task_record& operator=(const task_record&) = delete;
    ~task_record() {
        if (check::first_child* const its = first.load(std::memory_order_relaxed); its != nullptr) {
            check::forget(its);
        }
    }
};

namespace records {

/// The record in a task's data; null if there is none.
[[nodiscard]] inline task_record* of(const ompt_data_t* data) noexcept {
    return data != nullptr ? static_cast<task_record*>(data->ptr) : nullptr;
}

/// The current task's record; null if there is none.
[[nodiscard]] task_record* of_current_task() noexcept;

/// Marks the task as a communication task, for which its parent, taskgroup and region wait. A
/// second call has no effect.
void begin_communication(task_record& record, posted_operation posted) noexcept;

/// Whether a task of the program has waited for an event of the program, or for a device. Tasks
/// that such an event releases are in libomp's queue, which a team of one thread serves only while
/// it waits in libomp.
[[nodiscard]] bool has_foreign_events() noexcept;

} // namespace records
} // namespace commtask::omp
